// SPDX-License-Identifier: Apache-2.0
// What xsimd does not have, for AVX2 with FMA and F16C. simd_sse2.hpp says what each function is.
#pragma once

#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__) || defined(__AVX512F__)
#error "compile the avx2 kernels with -mavx2 -mfma -mf16c and nothing above"
#endif

#include <immintrin.h>
#include <xsimd/xsimd.hpp>

namespace {

using Arch = xsimd::fma3<xsimd::avx2>;
using VF = xsimd::batch<float, Arch>;
using VD = xsimd::batch<double, Arch>;
using VU = xsimd::batch<uint32_t, Arch>;
using VH = xsimd::batch<uint16_t, Arch>;
using Half = __m256i;
constexpr bool kLanesInRegisters = true;
constexpr bool kFewKernels = false;
constexpr bool kFusedIsOneInstruction = true;
constexpr bool kFarRows = true;

ROWNORM_INLINE VU bits(VF v) { return _mm256_castps_si256(v); }
ROWNORM_INLINE VF from_bits(VU v) { return _mm256_castsi256_ps(v); }

ROWNORM_INLINE VF fused(VF a, VF b, VF c) { return xsimd::fma(a, b, c); }

ROWNORM_INLINE VF add_f16_square(VF v, VF c) { return fused(v, v, c); }
ROWNORM_INLINE VF add_bf16_square(VF v, VF c) { return fused(v, v, c); }

ROWNORM_INLINE void keep_in_register(VF &v) { asm volatile("" : "+x"(v.data)); }
ROWNORM_INLINE void keep_in_register(VD &v) { asm volatile("" : "+x"(v.data)); }

ROWNORM_INLINE float fold(VF v) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
ROWNORM_INLINE double fold(VD v) {
    const __m128d s = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}
ROWNORM_INLINE VF fold_each(const VF (&v)[8]) {
    const auto quarters = [&](int r) __attribute__((always_inline)) { // of rows r and r + 4, so that they end in order
        return _mm256_add_ps(_mm256_permute2f128_ps(v[r], v[r + 4], 0x20),
                             _mm256_permute2f128_ps(v[r], v[r + 4], 0x31));
    };
    const auto halves = [](__m256 a, __m256 b) __attribute__((always_inline)) {
        const __m256d p = _mm256_castps_pd(a), q = _mm256_castps_pd(b);
        return _mm256_add_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(p, q)), _mm256_castpd_ps(_mm256_unpackhi_pd(p, q)));
    };
    const __m256 a = halves(quarters(0), quarters(1)), b = halves(quarters(2), quarters(3));
    return _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xdd));
}
ROWNORM_INLINE VD widen_low(VF v) { return _mm256_cvtps_pd(_mm256_castps256_ps128(v)); }
ROWNORM_INLINE VD widen_high(VF v) { return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)); }
ROWNORM_INLINE VF narrow(VD low, VD high) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(low)), _mm256_cvtpd_ps(high), 1);
}

// The first `count` elements of such a window, count below the vector's lanes, are kept.
alignas(64) constexpr int32_t window[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

ROWNORM_INLINE __m256i first32(int count) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(window + 8 - count));
}
ROWNORM_INLINE __m256i first64(int count) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(window + 8 - 2 * count));
}
ROWNORM_INLINE VF load_first(const float *p, int count) { return _mm256_maskload_ps(p, first32(count)); }
ROWNORM_INLINE VD load_first(const double *p, int count) { return _mm256_maskload_pd(p, first64(count)); }
ROWNORM_INLINE void store_first(float *p, VF v, int count) { _mm256_maskstore_ps(p, first32(count), v); }
ROWNORM_INLINE void store_first(double *p, VD v, int count) { _mm256_maskstore_pd(p, first64(count), v); }
ROWNORM_INLINE void stream(float *p, VF v) { _mm256_stream_ps(p, v); }
ROWNORM_INLINE void stream(double *p, VD v) { _mm256_stream_pd(p, v); }

ROWNORM_INLINE Half load_half(const uint16_t *p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)); }
ROWNORM_INLINE void store_half(uint16_t *p, Half v) { _mm256_storeu_si256(reinterpret_cast<__m256i *>(p), v); }
ROWNORM_INLINE void stream_half(uint16_t *p, Half v) { _mm256_stream_si256(reinterpret_cast<__m256i *>(p), v); }

// Whole dwords by a masked load; an odd last element is broadcast and kept in its place only.
alignas(64) constexpr uint16_t spot[32] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xffff};

ROWNORM_INLINE Half load_half_first(const uint16_t *p, int count) {
    Half v = _mm256_setzero_si256();
    if (count >= 2)
        v = _mm256_maskload_epi32(reinterpret_cast<const int *>(p), first32(count / 2));
    if (count & 1) {
        const __m256i place = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(spot + 16 - count));
        v = _mm256_or_si256(v, _mm256_and_si256(place, _mm256_set1_epi16(int16_t(p[count - 1]))));
    }
    return v;
}

ROWNORM_INLINE VU as_dwords(Half v) { return v; }
ROWNORM_INLINE VU bf16_low(Half v) { return _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm256_castsi256_si128(v)), 16); }
ROWNORM_INLINE VU bf16_high(Half v) {
    return _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm256_extracti128_si256(v, 1)), 16);
}
ROWNORM_INLINE bool has_nan(VF a, VF b) { return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q)); }
ROWNORM_INLINE VH interleave_upper(VU even, VU odd) {
    return _mm256_blend_epi16(_mm256_srli_epi32(even, 16), odd, 0xaa);
}
ROWNORM_INLINE VH interleave_lower(VU even, VU odd) {
    return _mm256_blend_epi16(even, _mm256_slli_epi32(odd, 16), 0xaa);
}
ROWNORM_INLINE VH increment_above_half(VH v, VH rest) { // there is no comparison of unsigned numbers
    const __m256i all_ones = _mm256_set1_epi16(-1);
    return _mm256_sub_epi16(v, _mm256_cmpeq_epi16(_mm256_adds_epu16(rest, _mm256_set1_epi16(0x7ffe)), all_ones));
}
ROWNORM_INLINE Half in_order(VH v) {
    constexpr int64_t even = 0x0d0c'0908'0504'0100, odd = 0x0f0e'0b0a'0706'0302;
    return _mm256_permute4x64_epi64(_mm256_shuffle_epi8(v, _mm256_setr_epi64x(even, odd, even, odd)), 0xd8);
}

ROWNORM_INLINE VF f16_low(Half v) { return _mm256_cvtph_ps(_mm256_castsi256_si128(v)); }
ROWNORM_INLINE VF f16_high(Half v) { return _mm256_cvtph_ps(_mm256_extracti128_si256(v, 1)); }
ROWNORM_INLINE Half f16_pack(VF low, VF high) {
    const __m128i l = _mm256_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT),
                  h = _mm256_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(l), h, 1);
}

ROWNORM_INLINE VF f16_round(VF v) { return _mm256_cvtph_ps(_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT)); }

ROWNORM_INLINE void store_f16(uint16_t *p, VF low, VF high) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(p), _mm256_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT));
    keep_order_of_stores();
    _mm_storeu_si128(reinterpret_cast<__m128i *>(p + 8), _mm256_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT));
}

ROWNORM_INLINE VU load_bf16(const uint16_t *p) {
    return _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p))), 16);
}
ROWNORM_INLINE VF load_f16(const uint16_t *p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p)));
}

} // namespace
