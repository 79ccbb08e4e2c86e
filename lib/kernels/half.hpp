// SPDX-License-Identifier: Apache-2.0
// 16-bit floats one at a time, in integer arithmetic: the portable conversions that the vector ones
// are tested against, and that rows redone in f64 use. Rounding is to nearest, ties to even; a NaN
// stays a NaN. In an unnamed namespace, because files of every ISA include it.
#pragma once

#include <cstdint>

namespace {

[[maybe_unused]] inline float bf16_to_f32(uint16_t h) { return __builtin_bit_cast(float, uint32_t(h) << 16); }

[[maybe_unused]] inline uint16_t f32_to_bf16(float f) {
    const uint32_t u = __builtin_bit_cast(uint32_t, f);
    if ((u & 0x7fffffff) > 0x7f800000)
        return uint16_t((u >> 16) | 0x40); // quiet, so that dropping the low half cannot make an infinity
    return uint16_t((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

[[maybe_unused]] inline float f16_to_f32(uint16_t h) {
    const uint32_t sign = uint32_t(h & 0x8000) << 16;
    const uint32_t exponent = (h >> 10) & 31, mantissa = h & 0x3ff;
    if (exponent == 31)
        return __builtin_bit_cast(float, sign | 0x7f800000 | (mantissa << 13) | (mantissa ? 0x400000u : 0u));
    if (exponent == 0) { // subnormal: mantissa * 2^-24, exact in f32
        const float magnitude = float(mantissa) * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    return __builtin_bit_cast(float, sign | ((exponent + 112) << 23) | (mantissa << 13));
}

[[maybe_unused]] inline uint16_t f32_to_f16(float f) {
    const uint32_t u = __builtin_bit_cast(uint32_t, f), magnitude = u & 0x7fffffff;
    const auto sign = uint16_t((u >> 16) & 0x8000);
    if (magnitude > 0x7f800000)
        return uint16_t(sign | 0x7e00);
    if (magnitude >= 0x477ff000) // 65520, halfway between the largest f16 and 2^16: to infinity
        return uint16_t(sign | 0x7c00);
    if (magnitude < 0x38800000) { // below 2^-14 the spacing is that of f32 numbers in [0.5, 1)
        const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
        return uint16_t(sign | (__builtin_bit_cast(uint32_t, shifted) - 0x3f000000));
    }
    return uint16_t(sign | ((magnitude + 0xfff + ((magnitude >> 13) & 1) - (112u << 23)) >> 13));
}

} // namespace
