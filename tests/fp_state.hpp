// SPDX-License-Identifier: Apache-2.0
//
// The floating-point control state of a thread: MXCSR on x86-64, FPCR on AArch64.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace rownorm_test {

struct FpState {
    const char *name;
    std::uint64_t bits;
};

#if defined(__x86_64__)
constexpr std::uint64_t fp_control_bits = 0xffc0; // all but the sticky flags
constexpr std::uint64_t fp_default = 0x1f80;

inline std::uint64_t fp_read() { return __builtin_ia32_stmxcsr() & fp_control_bits; }
inline void fp_write(std::uint64_t bits) { __builtin_ia32_ldmxcsr(static_cast<unsigned>(bits)); }

constexpr std::initializer_list<FpState> fp_states = {
    {"default", 0x1f80},
    {"flush to zero", 0x9f80},
    {"denormals are zero", 0x1fc0},
    {"flush to zero and denormals are zero", 0x9fc0},
    {"round down", 0x3f80},
    {"round up", 0x5f80},
    {"round to zero", 0x7f80},
    {"traps on invalid, division by zero and overflow", 0x1900},
    {"all traps", 0x0000},
    {"round up, flush, all traps", 0xc040},
};
#elif defined(__aarch64__)
// Rounding mode, flush to zero and default NaN. The trap bits may be fixed at zero.
constexpr std::uint64_t fp_control_bits = 0x7c00000 | 0x9f00;
constexpr std::uint64_t fp_default = 0;

inline std::uint64_t fp_read() {
    std::uint64_t bits = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(bits));
    return bits & fp_control_bits;
}
inline void fp_write(std::uint64_t bits) { __asm__ volatile("msr fpcr, %0" : : "r"(bits)); }

constexpr std::initializer_list<FpState> fp_states = {
    {"default", 0},
    {"flush to zero", 1U << 24},
    {"default NaN", 1U << 25},
    {"round up", 1U << 22},
    {"round down", 2U << 22},
    {"round to zero", 3U << 22},
    {"traps on invalid, division by zero and overflow", 7U << 8},
    {"round up, flush, all traps", 1U << 24 | 1U << 22 | 0x9fU << 8},
};
#else
#error "say here how this CPU's floating-point state is read and written"
#endif

/// Runs `function` in a state and returns the state after it; the caller's own is restored. What the
/// CPU did not take of `bits` (traps that it does not have) is in `taken`.
template <class Function>
std::uint64_t in_fp_state(std::uint64_t bits, std::uint64_t &taken, Function function) {
    const std::uint64_t before = fp_read();
    fp_write(bits);
    taken = fp_read();
    function();
    const std::uint64_t after = fp_read();
    fp_write(before);
    return after;
}

} // namespace rownorm_test
