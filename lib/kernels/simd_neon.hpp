// SPDX-License-Identifier: Apache-2.0
// What xsimd does not have, for AArch64. simd_sse2.hpp says what each function is.
#pragma once

#include <arm_neon.h>
#include <xsimd/xsimd.hpp>

namespace {

using Arch = xsimd::neon64;
using VF = xsimd::batch<float, Arch>;
using VD = xsimd::batch<double, Arch>;
using VU = xsimd::batch<uint32_t, Arch>;
using VH = xsimd::batch<uint16_t, Arch>;
using Half = uint16x8_t;
constexpr bool kLanesInRegisters = true;
constexpr bool kFewKernels = false;
constexpr bool kFusedIsOneInstruction = true;
constexpr bool kFarRows = false;

ROWNORM_INLINE VU bits(VF v) { return vreinterpretq_u32_f32(v); }
ROWNORM_INLINE VF from_bits(VU v) { return vreinterpretq_f32_u32(v); }

ROWNORM_INLINE VF fused(VF a, VF b, VF c) { return vfmaq_f32(c, a, b); }

ROWNORM_INLINE VF add_f16_square(VF v, VF c) { return fused(v, v, c); }
ROWNORM_INLINE VF add_bf16_square(VF v, VF c) { return fused(v, v, c); }

ROWNORM_INLINE void keep_in_register(VF &v) { asm volatile("" : "+w"(v.data)); }
ROWNORM_INLINE void keep_in_register(VD &v) { asm volatile("" : "+w"(v.data)); }

ROWNORM_INLINE float fold(VF v) {
    const float32x2_t s = vadd_f32(vget_low_f32(v), vget_high_f32(v));
    return vget_lane_f32(s, 0) + vget_lane_f32(s, 1);
}
ROWNORM_INLINE double fold(VD v) { return vgetq_lane_f64(v, 0) + vgetq_lane_f64(v, 1); }
ROWNORM_INLINE VF fold_each(const VF (&v)[4]) {
    const auto halves = [](float32x4_t a, float32x4_t b) __attribute__((always_inline)) {
        const float64x2_t p = vreinterpretq_f64_f32(a), q = vreinterpretq_f64_f32(b);
        return vaddq_f32(vreinterpretq_f32_f64(vtrn1q_f64(p, q)), vreinterpretq_f32_f64(vtrn2q_f64(p, q)));
    };
    return vpaddq_f32(halves(v[0], v[1]), halves(v[2], v[3]));
}
ROWNORM_INLINE VD widen_low(VF v) { return vcvt_f64_f32(vget_low_f32(v)); }
ROWNORM_INLINE VD widen_high(VF v) { return vcvt_high_f64_f32(v); }
ROWNORM_INLINE VF narrow(VD low, VD high) { return vcvt_high_f32_f64(vcvt_f32_f64(low), high); }

ROWNORM_INLINE VF load_first(const float *p, int count) {
    float32x4_t v = vsetq_lane_f32(p[0], vdupq_n_f32(0), 0);
    if (count > 1)
        v = vsetq_lane_f32(p[1], v, 1);
    if (count > 2)
        v = vsetq_lane_f32(p[2], v, 2);
    return v;
}
ROWNORM_INLINE VD load_first(const double *p, int) { return vsetq_lane_f64(p[0], vdupq_n_f64(0), 0); }
ROWNORM_INLINE void store_first(float *p, VF v, int count) {
    float lanes[4];
    vst1q_f32(lanes, v);
    for (int i = 0; i < count; i++)
        p[i] = lanes[i];
}
ROWNORM_INLINE void store_first(double *p, VD v, int) { p[0] = vgetq_lane_f64(v, 0); }
ROWNORM_INLINE void stream(float *p, VF v) { vst1q_f32(p, v); } // no store in ACLE bypasses the caches
ROWNORM_INLINE void stream(double *p, VD v) { vst1q_f64(p, v); }

ROWNORM_INLINE Half load_half(const uint16_t *p) { return vld1q_u16(p); }
ROWNORM_INLINE void store_half(uint16_t *p, Half v) { vst1q_u16(p, v); }
ROWNORM_INLINE void stream_half(uint16_t *p, Half v) { vst1q_u16(p, v); }
ROWNORM_INLINE Half load_half_first(const uint16_t *p, int count) {
    uint16_t lanes[8] = {};
    for (int i = 0; i < count; i++)
        lanes[i] = p[i];
    return vld1q_u16(lanes);
}

ROWNORM_INLINE VU as_dwords(Half v) { return vreinterpretq_u32_u16(v); }
ROWNORM_INLINE VU bf16_low(Half v) { return vshll_n_u16(vget_low_u16(v), 16); }
ROWNORM_INLINE VU bf16_high(Half v) { return vshll_n_u16(vget_high_u16(v), 16); }
ROWNORM_INLINE bool has_nan(VF a, VF b) { return !vminvq_u32(vandq_u32(vceqq_f32(a, a), vceqq_f32(b, b))); }
ROWNORM_INLINE VH interleave_upper(VU even, VU odd) {
    return vtrn2q_u16(vreinterpretq_u16_u32(even), vreinterpretq_u16_u32(odd));
}
ROWNORM_INLINE VH interleave_lower(VU even, VU odd) {
    return vtrn1q_u16(vreinterpretq_u16_u32(even), vreinterpretq_u16_u32(odd));
}
ROWNORM_INLINE VH increment_above_half(VH v, VH rest) { return vsubq_u16(v, vcgtq_u16(rest, vdupq_n_u16(0x8000))); }
ROWNORM_INLINE Half in_order(VH v) {
    const uint64x2_t places = {0x0d0c'0908'0504'0100, 0x0f0e'0b0a'0706'0302};
    return vreinterpretq_u16_u8(vqtbl1q_u8(vreinterpretq_u8_u16(v), vreinterpretq_u8_u64(places)));
}

ROWNORM_INLINE VF f16_low(Half v) { return vcvt_f32_f16(vreinterpret_f16_u16(vget_low_u16(v))); }
ROWNORM_INLINE VF f16_high(Half v) { return vcvt_f32_f16(vreinterpret_f16_u16(vget_high_u16(v))); }
ROWNORM_INLINE Half f16_pack(VF low, VF high) {
    return vcombine_u16(vreinterpret_u16_f16(vcvt_f16_f32(low)), vreinterpret_u16_f16(vcvt_f16_f32(high)));
}

ROWNORM_INLINE VF f16_round(VF v) { return vcvt_f32_f16(vcvt_f16_f32(v)); }

ROWNORM_INLINE void store_f16(uint16_t *p, VF low, VF high) { store_half(p, f16_pack(low, high)); }

ROWNORM_INLINE VU load_bf16(const uint16_t *p) { return vshll_n_u16(vld1_u16(p), 16); }
ROWNORM_INLINE VF load_f16(const uint16_t *p) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))); }

} // namespace
