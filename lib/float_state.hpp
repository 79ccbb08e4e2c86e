// SPDX-License-Identifier: Apache-2.0
// The floating-point state of the calling thread, made the default one for a scope. Reading it costs
// about a nanosecond; it is written only where the host changed it.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace rownorm {

class DefaultFloatState {
public:
    DefaultFloatState() noexcept : state_(read()), changed_((state_ & ~kSticky) != kDefault) {
        if (__builtin_expect(changed_, 0))
            write(kDefault);
    }
    ~DefaultFloatState() {
        if (__builtin_expect(changed_, 0))
            write(state_);
    }
    DefaultFloatState(const DefaultFloatState &) = delete;
    DefaultFloatState &operator=(const DefaultFloatState &) = delete;

private:
#if defined(__x86_64__)
    using State = uint32_t;
    static constexpr State kDefault = 0x1f80, kSticky = 0x3f; // all traps masked, to nearest, no FTZ, no DAZ
    static State read() noexcept { return _mm_getcsr(); }
    static void write(State state) noexcept { _mm_setcsr(state); }
#elif defined(__aarch64__)
    using State = uint64_t;
    static constexpr State kDefault = 0, kSticky = 0; // the sticky flags are in FPSR
    static State read() noexcept {
        State state;
        __asm__ __volatile__("mrs %0, fpcr" : "=r"(state));
        return state;
    }
    static void write(State state) noexcept { __asm__ __volatile__("msr fpcr, %0" : : "r"(state)); }
#else
#error "how this CPU keeps its floating-point state must be said here"
#endif
    State state_;
    bool changed_;
};

} // namespace rownorm
