// SPDX-License-Identifier: Apache-2.0
#include "cpu.hpp"

#if defined(__x86_64__)
#include <cpuid.h>

#include <cstdint>

namespace rownorm {
namespace {

struct Cpu {
    uint32_t leaf1_ecx = 0, leaf7_ebx = 0, leaf7_1_eax = 0;
    uint32_t family = 0;
    bool is_amd = false, is_intel = false;
    uint64_t saved_state = 0; // XCR0

    Cpu() noexcept {
        uint32_t a = 0, b = 0, c = 0, d = 0;
        if (__get_cpuid(0, &a, &b, &c, &d)) {
            is_amd = b == signature_AMD_ebx && c == signature_AMD_ecx && d == signature_AMD_edx;
            is_intel = b == signature_INTEL_ebx && c == signature_INTEL_ecx && d == signature_INTEL_edx;
        }
        if (__get_cpuid(1, &a, &b, &c, &d)) {
            leaf1_ecx = c;
            family = (a >> 8 & 0xf) + (a >> 20 & 0xff); // the extended family counts where the base is 15, as AMD's is
        }
        if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
            leaf7_ebx = b;
            if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) // the first subleaf says how many there are
                leaf7_1_eax = a;
        }
        if (leaf1_ecx & bit_OSXSAVE) { // without it XGETBV is an illegal instruction
            uint32_t low = 0, high = 0;
            __asm__ __volatile__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
            saved_state = uint64_t(high) << 32 | low;
        }
    }
    bool saves(uint64_t state) const noexcept { return (saved_state & state) == state; }
};

// Asked once: in a virtual machine each CPUID instruction is a trip to the hypervisor, of microseconds.
const Cpu &this_cpu() noexcept {
    static const Cpu cpu;
    return cpu;
}

constexpr uint64_t kYmm = 0x6, kZmm = 0xe6; // XMM and YMM; and the mask registers and both halves of ZMM

} // namespace

// Every subset that the kernels' compiler flags enable is asked for (lib/CMakeLists.txt).
const char *avx2_obstacle() noexcept {
    const Cpu &cpu = this_cpu();
    if (!(cpu.leaf7_ebx & bit_AVX2))
        return "the CPU lacks avx2";
    if (!(cpu.leaf1_ecx & bit_FMA))
        return "the CPU lacks fma";
    if (!(cpu.leaf1_ecx & bit_F16C))
        return "the CPU lacks f16c";
    if (!(cpu.leaf1_ecx & bit_AVX))
        return "the CPU lacks avx";
    if (!cpu.saves(kYmm))
        return "the operating system does not save the AVX registers";
    return nullptr;
}

const char *avx512_obstacle() noexcept {
    const Cpu &cpu = this_cpu();
    if (const char *obstacle = avx2_obstacle())
        return obstacle;
    if (!(cpu.leaf7_ebx & bit_AVX512F))
        return "the CPU lacks avx512f";
    if (!(cpu.leaf7_ebx & bit_AVX512CD))
        return "the CPU lacks avx512cd";
    if (!(cpu.leaf7_ebx & bit_AVX512BW))
        return "the CPU lacks avx512bw";
    if (!(cpu.leaf7_ebx & bit_AVX512DQ))
        return "the CPU lacks avx512dq";
    if (!(cpu.leaf7_ebx & bit_AVX512VL))
        return "the CPU lacks avx512vl";
    if (!cpu.saves(kZmm))
        return "the operating system does not save the AVX-512 registers";
    return nullptr;
}

const char *avx512bf16_obstacle() noexcept {
    if (const char *obstacle = avx512_obstacle())
        return obstacle;
    return this_cpu().leaf7_1_eax & bit_AVX512BF16 ? nullptr : "the CPU lacks avx512_bf16";
}

bool has_slow_wide_vectors() noexcept { return this_cpu().is_amd && this_cpu().family == 0x19; }

bool moves_by_halves() noexcept { return this_cpu().is_intel; }

bool streams_hinder_reads() noexcept { return this_cpu().is_amd; }

} // namespace rownorm
#endif
