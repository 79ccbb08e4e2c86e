// SPDX-License-Identifier: Apache-2.0
// What xsimd does not have, for plain x86-64: an exact multiply-add, sums over the lanes in the fixed
// order, partial loads and stores, and 16-bit floats. The other simd_*.hpp offer the same names; this
// one says what each is.
//
//   VF, VD, VU                 vectors of f32, f64 and of f32 bit patterns; VF has S lanes
//   Half                       a register of 2*S 16-bit floats
//   fused(a, b, c)             a*b + c with one rounding
//   add_f16_square(v, c), add_bf16_square(v, c)  fused(v, v, c) for v that are such numbers
//   fold(v)                    lane j + lane j+S/2, then + S/4, ... + 1
//   fold_each(v)               for S vectors of f32: the fold of each in a lane of its own
//   widen_low, widen_high      the first / last half of a VF in f64; narrow(low, high) is the way back
//   load_first, store_first    the first `count` elements, 1 <= count < the vector's lanes; no other byte
//                              is touched; absent lanes load as 0
//   kLanesInRegisters          whether the 64 lanes of a sum fit into the registers
//   kFewKernels                whether one general kernel serves every gain and bias, and mixes of types have none
//                              of both passes, to keep the library small
//   kFusedIsOneInstruction     whether `fused` costs no more than an addition
//   kFarRows                   whether rows in memory get loops of their own: stores around the caches, prefetch
//   stream                     a store that bypasses the caches (address aligned to the vector)
//   as_dwords                  a Half as bit patterns of 32 bits
//   bf16_low, bf16_high        the first / last S elements of a Half, as bit patterns of f32
//   has_nan                    whether one of two vectors has a NaN
//   interleave_upper, interleave_lower  the upper / lower halves of two vectors of bit patterns, element by element in
//                              turn
//   increment_above_half(v, rest)  v + 1 where rest is above 0x8000
//   in_order                   interleaved elements as a Half: those of the first vector, then those of the other
//   f16_low, f16_high, f16_pack  conversion of binary16, rounding to nearest even
//   store_f16(p, low, high)      f16_pack, stored
//   keep_in_register(v)          tells the compiler that a sum is not to be spilled to make room for work ahead of its
//                                turn; nothing where the sums do not fit anyway
//   load_bf16, load_f16        S elements from memory: bf16_low and f16_low of a load that need not be whole
#pragma once

#if defined(__SSE3__) || defined(__AVX__)
#error "compile the sse2 kernels without any -m flag"
#endif

#include <emmintrin.h>
#include <xsimd/xsimd.hpp>

namespace {

using Arch = xsimd::sse2;
using VF = xsimd::batch<float, Arch>;
using VD = xsimd::batch<double, Arch>;
using VU = xsimd::batch<uint32_t, Arch>;
using VH = xsimd::batch<uint16_t, Arch>;
using Half = __m128i;
constexpr bool kLanesInRegisters = false;
constexpr bool kFewKernels = true;
constexpr bool kFusedIsOneInstruction = false;
constexpr bool kFarRows = false;

ROWNORM_INLINE VU bits(VF v) { return _mm_castps_si128(v); }
ROWNORM_INLINE VF from_bits(VU v) { return _mm_castsi128_ps(v); }

// One lane, whatever the values: the f64 sum is rounded to odd, which makes the second rounding, to
// f32, harmless (53 >= 2*24 + 2 bits). The product of two f32 is exact in f64; e is the exact error of
// the f64 addition (two-sum).
[[gnu::noinline, gnu::cold]] float fused_by_odd_rounding(double product, double c) {
    const double s = product + c, part = s - product;
    const double e = (product - (s - part)) + (c - part);
    auto u = __builtin_bit_cast(uint64_t, s);
    if (e < 0 || e > 0) // neither exact nor, with an infinite or NaN lane, NaN
        u = (u - uint64_t((e < 0) != (s < 0))) | 1;
    return float(__builtin_bit_cast(double, u));
}

// Two lanes that need care: s lies halfway between two f32 (the low 29 bits are 1 and zeros), or below
// the smallest normal f32, where f32 has fewer bits and "halfway" lies elsewhere.
ROWNORM_INLINE __m128d needs_odd_rounding(__m128d s) {
    const __m128i low = _mm_and_si128(_mm_castpd_si128(s), _mm_set_epi32(0, 0x1fffffff, 0, 0x1fffffff));
    const __m128i halfway = _mm_cmpeq_epi32(low, _mm_set_epi32(-1, 0x10000000, -1, 0x10000000));
    const __m128i low_dword = _mm_shuffle_epi32(halfway, _MM_SHUFFLE(2, 2, 0, 0));
    const __m128d magnitude = _mm_andnot_pd(_mm_set1_pd(-0.0), s);
    const __m128d tiny = _mm_and_pd(_mm_cmplt_pd(magnitude, _mm_set1_pd(0x1p-126)), _mm_cmpneq_pd(s, _mm_setzero_pd()));
    return _mm_or_pd(_mm_castsi128_pd(low_dword), tiny);
}

[[gnu::noinline, gnu::cold]] __m128 fused_with_care(__m128 a, __m128 b, __m128 c) {
    alignas(16) float x[4], y[4], z[4];
    _mm_store_ps(x, a);
    _mm_store_ps(y, b);
    _mm_store_ps(z, c);
    for (int i = 0; i < 4; i++)
        z[i] = fused_by_odd_rounding(double(x[i]) * double(y[i]), double(z[i]));
    return _mm_load_ps(z);
}

// The sums, rounded to f32: any lane that may need care? Quick, and also true of a lane that is 0.
ROWNORM_INLINE bool may_need_care(__m128d s0, __m128d s1, __m128 rounded) {
    const __m128i low = _mm_castps_si128(_mm_shuffle_ps(_mm_castpd_ps(s0), _mm_castpd_ps(s1), _MM_SHUFFLE(2, 0, 2, 0)));
    const __m128i halfway = _mm_cmpeq_epi32(_mm_and_si128(low, _mm_set1_epi32(0x1fffffff)), _mm_set1_epi32(0x10000000));
    const __m128 small = _mm_cmple_ps(_mm_andnot_ps(_mm_set1_ps(-0.0f), rounded), _mm_set1_ps(0x1p-126f));
    return _mm_movemask_ps(_mm_or_ps(_mm_castsi128_ps(halfway), small));
}

ROWNORM_INLINE VF fused(VF a, VF b, VF c) {
    const __m128 av = a, bv = b, cv = c;
    const auto high = [](__m128 v) { return _mm_cvtps_pd(_mm_movehl_ps(v, v)); };
    const __m128d s0 = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(av), _mm_cvtps_pd(bv)), _mm_cvtps_pd(cv));
    const __m128d s1 = _mm_add_pd(_mm_mul_pd(high(av), high(bv)), high(cv));
    const __m128 rounded = _mm_movelh_ps(_mm_cvtpd_ps(s0), _mm_cvtpd_ps(s1));
    if (__builtin_expect(may_need_care(s0, s1, rounded), 0) &&
        _mm_movemask_pd(_mm_or_pd(needs_odd_rounding(s0), needs_odd_rounding(s1))))
        return fused_with_care(av, bv, cv);
    return rounded;
}

// f16 squares have 22 bits and are normal numbers in f32: the product is exact, and only the sum is rounded.
ROWNORM_INLINE VF add_f16_square(VF v, VF c) { return v * v + c; }

// bf16 squares have 16 bits: the same, unless they underflow.
ROWNORM_INLINE VF add_bf16_square(VF v, VF c) {
    const __m128 magnitude = _mm_andnot_ps(_mm_set1_ps(-0.0f), v);
    const __m128 small = _mm_and_ps(_mm_cmplt_ps(magnitude, _mm_set1_ps(0x1p-63f)), _mm_cmpneq_ps(v, _mm_setzero_ps()));
    if (__builtin_expect(_mm_movemask_ps(small), 0))
        return fused_with_care(v, v, c);
    return v * v + c;
}

ROWNORM_INLINE void keep_in_register(VF &) {}
ROWNORM_INLINE void keep_in_register(VD &) {}

ROWNORM_INLINE float fold(VF v) {
    const __m128 s = _mm_add_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(s, s, 1)));
}
ROWNORM_INLINE double fold(VD v) { return _mm_cvtsd_f64(_mm_add_sd(v, _mm_unpackhi_pd(v, v))); }
ROWNORM_INLINE VF fold_each(const VF (&v)[4]) {
    const auto halves = [](__m128 a, __m128 b) { return _mm_add_ps(_mm_movelh_ps(a, b), _mm_movehl_ps(b, a)); };
    const __m128 a = halves(v[0], v[1]), b = halves(v[2], v[3]);
    return _mm_add_ps(_mm_shuffle_ps(a, b, 0x88), _mm_shuffle_ps(a, b, 0xdd));
}
ROWNORM_INLINE VD widen_low(VF v) { return _mm_cvtps_pd(v); }
ROWNORM_INLINE VD widen_high(VF v) { return _mm_cvtps_pd(_mm_movehl_ps(v, v)); }
ROWNORM_INLINE VF narrow(VD low, VD high) { return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high)); }

ROWNORM_INLINE VF load_first(const float *p, int count) {
    if (count == 1)
        return _mm_load_ss(p);
    const __m128 two = _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(p)));
    return count == 2 ? two : _mm_movelh_ps(two, _mm_load_ss(p + 2));
}
ROWNORM_INLINE VD load_first(const double *p, int) { return _mm_load_sd(p); }
ROWNORM_INLINE void store_first(float *p, VF v, int count) {
    alignas(16) float lanes[4];
    _mm_store_ps(lanes, v);
    for (int i = 0; i < count; i++)
        p[i] = lanes[i];
}
ROWNORM_INLINE void store_first(double *p, VD v, int) { _mm_store_sd(p, v); }
ROWNORM_INLINE void stream(float *p, VF v) { _mm_stream_ps(p, v); }
ROWNORM_INLINE void stream(double *p, VD v) { _mm_stream_pd(p, v); }

ROWNORM_INLINE Half load_half(const uint16_t *p) { return _mm_loadu_si128(reinterpret_cast<const __m128i *>(p)); }
ROWNORM_INLINE void store_half(uint16_t *p, Half v) { _mm_storeu_si128(reinterpret_cast<__m128i *>(p), v); }
ROWNORM_INLINE void stream_half(uint16_t *p, Half v) { _mm_stream_si128(reinterpret_cast<__m128i *>(p), v); }
ROWNORM_INLINE Half load_half_first(const uint16_t *p, int count) {
    alignas(16) uint16_t lanes[8] = {};
    for (int i = 0; i < count; i++)
        lanes[i] = p[i];
    return _mm_load_si128(reinterpret_cast<const __m128i *>(lanes));
}

ROWNORM_INLINE VU as_dwords(Half v) { return v; }
ROWNORM_INLINE VU bf16_low(Half v) { return _mm_unpacklo_epi16(_mm_setzero_si128(), v); }
ROWNORM_INLINE VU bf16_high(Half v) { return _mm_unpackhi_epi16(_mm_setzero_si128(), v); }
ROWNORM_INLINE bool has_nan(VF a, VF b) { return _mm_movemask_ps(_mm_cmpunord_ps(a, b)); }
ROWNORM_INLINE VH interleave_upper(VU even, VU odd) {
    return _mm_or_si128(_mm_srli_epi32(even, 16), _mm_and_si128(odd, _mm_set1_epi32(int(0xffff0000))));
}
ROWNORM_INLINE VH interleave_lower(VU even, VU odd) {
    return _mm_or_si128(_mm_and_si128(even, _mm_set1_epi32(0xffff)), _mm_slli_epi32(odd, 16));
}
ROWNORM_INLINE VH increment_above_half(VH v, VH rest) { // there is no comparison of unsigned numbers
    const __m128i all_ones = _mm_set1_epi16(-1);
    return _mm_sub_epi16(v, _mm_cmpeq_epi16(_mm_adds_epu16(rest, _mm_set1_epi16(0x7ffe)), all_ones));
}
ROWNORM_INLINE Half in_order(VH v) {
    return _mm_shuffle_epi32(_mm_shufflehi_epi16(_mm_shufflelo_epi16(v, 0xd8), 0xd8), 0xd8);
}

ROWNORM_INLINE VU choose(VU mask, VU a, VU b) { return (mask & a) | (~mask & b); }
ROWNORM_INLINE VU above(VU a, int32_t b) { return _mm_cmpgt_epi32(a, _mm_set1_epi32(b)); } // both below 2^31

// Exponent and mantissa moved into an f32's place are the number times 2^-112, subnormals included.
ROWNORM_INLINE VF f16_widen(VU h) {
    const VU magnitude = (h & VU(0x7fff)) << 13;
    const VU number = bits(from_bits(magnitude) * VF(0x1p112f));
    const VU value = choose(above(magnitude, 0x0f7fffff), magnitude | VU(0x7f800000), number);
    return from_bits(value | ((h & VU(0x8000)) << 16));
}

// f32_to_f16 of half.hpp, all ways computed and one chosen.
ROWNORM_INLINE VU f16_narrow(VF v) {
    const VU u = bits(v), magnitude = u & VU(0x7fffffff), odd = (magnitude >> 13) & VU(1);
    const VU normal = (magnitude + VU(0xfff) + odd - VU(112u << 23)) >> 13;
    const VU subnormal = bits(from_bits(magnitude) + VF(0.5f)) - VU(0x3f000000);
    VU h = choose(above(magnitude, 0x387fffff), normal, subnormal);
    h = choose(above(magnitude, 0x477fefff), VU(0x7c00), h);
    h = choose(above(magnitude, 0x7f800000), VU(0x7e00), h);
    return h | ((u >> 16) & VU(0x8000));
}

ROWNORM_INLINE VF f16_low(Half v) { return f16_widen(_mm_unpacklo_epi16(v, _mm_setzero_si128())); }
ROWNORM_INLINE VF f16_high(Half v) { return f16_widen(_mm_unpackhi_epi16(v, _mm_setzero_si128())); }
ROWNORM_INLINE Half f16_pack(VF low, VF high) { // by way of signed numbers, whose saturation keeps every value
    const VU l = f16_narrow(low) << 16, h = f16_narrow(high) << 16;
    return _mm_packs_epi32(_mm_srai_epi32(l, 16), _mm_srai_epi32(h, 16));
}

ROWNORM_INLINE VF f16_round(VF v) { return f16_widen(f16_narrow(v)); }

ROWNORM_INLINE void store_f16(uint16_t *p, VF low, VF high) { store_half(p, f16_pack(low, high)); }

ROWNORM_INLINE VU load_bf16(const uint16_t *p) {
    return _mm_unpacklo_epi16(_mm_setzero_si128(), _mm_loadl_epi64(reinterpret_cast<const __m128i *>(p)));
}
ROWNORM_INLINE VF load_f16(const uint16_t *p) { return f16_low(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(p))); }

} // namespace
