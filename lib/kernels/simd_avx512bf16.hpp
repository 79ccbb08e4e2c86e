// SPDX-License-Identifier: Apache-2.0
// AVX-512 with AVX512_BF16: what simd_avx512.hpp has, and one instruction that rounds f32 to bf16.
#pragma once

#if !defined(__AVX512BF16__)
#error "compile the avx512bf16 kernels with -mavx512bf16"
#endif

#include "simd_avx512.hpp"

namespace {

// The instruction takes subnormal numbers for 0, whatever MXCSR says.
ROWNORM_INLINE bool has_subnormal(VF a, VF b) {
    constexpr int subnormal = 0x20;
    return !_mm512_kortestz(_mm512_fpclass_ps_mask(a, subnormal), _mm512_fpclass_ps_mask(b, subnormal));
}

ROWNORM_INLINE bool convert_in_order(VF low, VF high, Half &packed) {
    packed = (__m512i)_mm512_cvtne2ps_pbh(high, low);
    return __builtin_expect(!has_subnormal(low, high), 1);
}

} // namespace
