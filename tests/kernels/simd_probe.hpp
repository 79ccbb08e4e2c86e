// SPDX-License-Identifier: Apache-2.0
// The primitives of one ISA over arrays, for test_simd.cpp. Sizes are multiples of 32 elements unless said.
#pragma once

#include <cstddef>
#include <cstdint>

struct SimdProbe {
    const char *isa;
    void (*fused)(const float *a, const float *b, const float *c, float *out, size_t n);
    void (*add_f16_square)(const float *v, const float *c, float *out, size_t n);
    void (*add_bf16_square)(const float *v, const float *c, float *out, size_t n);
    float (*fold)(const float *v); // of the ISA's S lanes
    size_t lanes;

    struct HalfType {
        const char *name;
        void (*load)(const uint16_t *from, float *to, size_t n); // in the elements' order
        void (*store)(const float *from, uint16_t *to, size_t n);
        void (*load_first)(const uint16_t *from, float *to, int count);  // 2*S values, 0 from count on
        void (*store_first)(const float *from, uint16_t *to, int count); // from 2*S values
        bool keeps_nan;                                                  // whatever the NaN's payload
    };
    HalfType half[3]; // f16, bf16, bf16 by even and odd
};
