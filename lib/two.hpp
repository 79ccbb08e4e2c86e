// SPDX-License-Identifier: Apache-2.0
// Two f64 numbers in one register of the baseline, for the roots and divisions of several rows: their units take two
// as fast as one.
#pragma once

#if defined(__x86_64__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace rownorm {

using Two [[gnu::vector_size(16)]] = double;

// One by one, as they were stored so: a load of both would wait until the two stores have left for the cache.
[[gnu::always_inline]] inline Two two_of(const double *p) { return Two{p[0], p[1]}; }

[[gnu::always_inline]] inline double square_root(double v) { return __builtin_sqrt(v); }
[[gnu::always_inline]] inline Two square_root(Two v) {
#if defined(__x86_64__)
    return Two(_mm_sqrt_pd(__m128d(v)));
#else
    return Two(vsqrtq_f64(float64x2_t(v)));
#endif
}

} // namespace rownorm
