// SPDX-License-Identifier: Apache-2.0
// What xsimd does not have, for AVX-512 F, CD, BW, DQ and VL. simd_sse2.hpp says what each function is.
#pragma once

#if !defined(__AVX512F__) || !defined(__AVX512CD__) || !defined(__AVX512BW__) || !defined(__AVX512DQ__) ||             \
    !defined(__AVX512VL__)
#error "compile the avx512 kernels with -mavx512f -mavx512cd -mavx512bw -mavx512dq -mavx512vl"
#endif
#if defined(__AVX512VNNI__) || defined(__AVX512VBMI__) || (defined(__AVX512BF16__) && !defined(ROWNORM_ISA_AVX512BF16))
#error "the avx512 kernels were compiled for more than F, CD, BW, DQ and VL"
#endif

#include <immintrin.h>
#include <xsimd/xsimd.hpp>

namespace {

using Arch = xsimd::avx512bw;
using VF = xsimd::batch<float, Arch>;
using VD = xsimd::batch<double, Arch>;
using VU = xsimd::batch<uint32_t, Arch>;
using VH = xsimd::batch<uint16_t, Arch>;
using Half = __m512i;
constexpr bool kLanesInRegisters = true;
constexpr bool kFewKernels = false;
constexpr bool kFusedIsOneInstruction = true;
constexpr bool kFarRows = true;

ROWNORM_INLINE VU bits(VF v) { return _mm512_castps_si512(v); }
ROWNORM_INLINE VF from_bits(VU v) { return _mm512_castsi512_ps(v); }

ROWNORM_INLINE VF fused(VF a, VF b, VF c) { return _mm512_fmadd_ps(a, b, c); }

ROWNORM_INLINE VF add_f16_square(VF v, VF c) { return fused(v, v, c); }
ROWNORM_INLINE VF add_bf16_square(VF v, VF c) { return fused(v, v, c); }

ROWNORM_INLINE void keep_in_register(VF &v) { asm volatile("" : "+v"(v.data)); }
ROWNORM_INLINE void keep_in_register(VD &v) { asm volatile("" : "+v"(v.data)); }

ROWNORM_INLINE float fold(VF v) {
    const __m256 h = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
ROWNORM_INLINE double fold(VD v) {
    const __m256d h = _mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
    const __m128d s = _mm_add_pd(_mm256_castpd256_pd128(h), _mm256_extractf128_pd(h, 1));
    return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}
ROWNORM_INLINE VF fold_each(const VF (&v)[16]) {
    const auto eighths = [](__m512 a, __m512 b) __attribute__((always_inline)) {
        return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
    };
    const auto quarters = [&](int r) __attribute__((always_inline)) { // of rows r + 0, 4, 8, 12: they end in order
        const __m512 a = eighths(v[r], v[r + 4]), b = eighths(v[r + 8], v[r + 12]);
        return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
    };
    const auto halves = [](__m512 a, __m512 b) __attribute__((always_inline)) {
        const __m512d p = _mm512_castps_pd(a), q = _mm512_castps_pd(b);
        return _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(p, q)), _mm512_castpd_ps(_mm512_unpackhi_pd(p, q)));
    };
    const __m512 a = halves(quarters(0), quarters(1)), b = halves(quarters(2), quarters(3));
    return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xdd));
}
ROWNORM_INLINE VD widen_low(VF v) { return _mm512_cvtps_pd(_mm512_castps512_ps256(v)); }
ROWNORM_INLINE VD widen_high(VF v) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)); }
ROWNORM_INLINE VF narrow(VD low, VD high) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
}

ROWNORM_INLINE uint32_t first(int count) { return (1u << count) - 1; }
ROWNORM_INLINE VF load_first(const float *p, int count) { return _mm512_maskz_loadu_ps(__mmask16(first(count)), p); }
ROWNORM_INLINE VD load_first(const double *p, int count) { return _mm512_maskz_loadu_pd(__mmask8(first(count)), p); }
ROWNORM_INLINE void store_first(float *p, VF v, int count) { _mm512_mask_storeu_ps(p, __mmask16(first(count)), v); }
ROWNORM_INLINE void store_first(double *p, VD v, int count) { _mm512_mask_storeu_pd(p, __mmask8(first(count)), v); }
ROWNORM_INLINE void stream(float *p, VF v) { _mm512_stream_ps(p, v); }
ROWNORM_INLINE void stream(double *p, VD v) { _mm512_stream_pd(p, v); }

ROWNORM_INLINE Half load_half(const uint16_t *p) { return _mm512_loadu_si512(p); }
ROWNORM_INLINE void store_half(uint16_t *p, Half v) { _mm512_storeu_si512(p, v); }
ROWNORM_INLINE void stream_half(uint16_t *p, Half v) { _mm512_stream_si512(reinterpret_cast<__m512i *>(p), v); }
ROWNORM_INLINE Half load_half_first(const uint16_t *p, int count) { return _mm512_maskz_loadu_epi16(first(count), p); }

ROWNORM_INLINE VU as_dwords(Half v) { return v; }
ROWNORM_INLINE VU bf16_low(Half v) { return _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(v)), 16); }
ROWNORM_INLINE VU bf16_high(Half v) {
    return _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(v, 1)), 16);
}
ROWNORM_INLINE bool has_nan(VF a, VF b) { return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q); }
ROWNORM_INLINE VH interleave_upper(VU even, VU odd) {
    return _mm512_mask_blend_epi16(0xaaaaaaaau, _mm512_srli_epi32(even, 16), odd);
}
ROWNORM_INLINE VH interleave_lower(VU even, VU odd) {
    return _mm512_mask_blend_epi16(0xaaaaaaaau, even, _mm512_slli_epi32(odd, 16));
}
ROWNORM_INLINE VH increment_above_half(VH v, VH rest) {
    const __mmask32 above = _mm512_cmpgt_epu16_mask(rest, _mm512_set1_epi16(int16_t(0x8000)));
    return _mm512_mask_add_epi16(v, above, v, _mm512_set1_epi16(1));
}

// Where the elements of a vector in order are in one that has those of its halves in turn.
struct Places {
    uint16_t of[32];
    constexpr Places() : of() {
        for (int i = 0; i < 32; i++)
            of[i] = uint16_t(i % 16 * 2 + i / 16);
    }
};
alignas(64) constexpr Places places;

ROWNORM_INLINE Half in_order(VH v) { return _mm512_permutexvar_epi16(_mm512_load_si512(places.of), v); }

ROWNORM_INLINE VF f16_low(Half v) { return _mm512_cvtph_ps(_mm512_castsi512_si256(v)); }
ROWNORM_INLINE VF f16_high(Half v) { return _mm512_cvtph_ps(_mm512_extracti64x4_epi64(v, 1)); }
ROWNORM_INLINE Half f16_pack(VF low, VF high) {
    const __m256i l = _mm512_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT),
                  h = _mm512_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT);
    return _mm512_inserti64x4(_mm512_castsi256_si512(l), h, 1);
}

ROWNORM_INLINE VF f16_round(VF v) { return _mm512_cvtph_ps(_mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT)); }

ROWNORM_INLINE void store_f16(uint16_t *p, VF low, VF high) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(p), _mm512_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT));
    keep_order_of_stores();
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(p + 16), _mm512_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT));
}

ROWNORM_INLINE VU load_bf16(const uint16_t *p) {
    return _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p))), 16);
}
ROWNORM_INLINE VF load_f16(const uint16_t *p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)));
}

} // namespace
