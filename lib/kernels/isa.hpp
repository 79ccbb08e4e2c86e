// SPDX-License-Identifier: Apache-2.0
// The ISA that this file is compiled for: the build defines ROWNORM_ISA as its name and adds its flags.
// Everything in lib/kernels is in an unnamed namespace, so that no function compiled for one ISA can
// be taken for the same function of another; each object file exports one symbol, its kernels.
#pragma once

#include <cstdint>

#define ROWNORM_INLINE inline __attribute__((always_inline, unused))

#define ROWNORM_JOIN_(a, b) a##_##b
#define ROWNORM_JOIN(a, b) ROWNORM_JOIN_(a, b)
// The exported symbol of a kernel family: rownorm_statistics_avx2 and so on.
#define ROWNORM_SYMBOL(family) ROWNORM_JOIN(rownorm_##family, ROWNORM_ISA)

namespace {
// Compilers reverse stores at will, but a CPU commits them in their order: going back and forth between two lines that
// are not in L1 takes up to twice the time where rows are misaligned (Intel's Granite Rapids). Pairs of half a line or
// less, as all are of SSE2 and NEON, do not need it from one to the next, and NEON stores both by one instruction.
#if defined(ROWNORM_ISA_SSE2) || defined(ROWNORM_ISA_NEON)
ROWNORM_INLINE void keep_order_of_stores() {}
#else
ROWNORM_INLINE void keep_order_of_stores() { asm volatile("" ::: "memory"); }
#endif

} // namespace

#if defined(ROWNORM_ISA_SSE2)
#include "simd_sse2.hpp"
#elif defined(ROWNORM_ISA_AVX2)
#include "simd_avx2.hpp"
#elif defined(ROWNORM_ISA_AVX512)
#include "simd_avx512.hpp"
#elif defined(ROWNORM_ISA_AVX512BF16)
#include "simd_avx512bf16.hpp"
#elif defined(ROWNORM_ISA_NEON)
#include "simd_neon.hpp"
#else
#error "ROWNORM_ISA_<NAME> says which ISA to compile for"
#endif
