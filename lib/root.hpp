// SPDX-License-Identifier: Apache-2.0
// From the sums of a row to the factor that it is scaled by, in f64. Also for code that is compiled per
// ISA: nothing here may become a function of its own, which ISAs would share by its name.
#pragma once

#include "two.hpp"

#include <cstdint>

namespace rownorm {

// A number of elements to divide by. Multiplying by the inverse of a power of two gives the same bits, sooner.
struct Count {
    double value, inverse; // the inverse is 0 unless it is exact

    Count() = default;
    explicit Count(int64_t n) : value(double(n)), inverse((n & (n - 1)) == 0 ? 1.0 / double(n) : 0.0) {}
};
template <class V> // a double, or a vector of them
[[gnu::always_inline]] inline V operator/(V sum, const Count &count) {
    return count.inverse != 0 ? sum * count.inverse : sum / count.value;
}

// Of one row as a double, of two as a Two.
template <class V>
struct RootOf {
    V argument; // what stands under the root
    V factor;   // 1/sqrt(v) or 1/d
};
using Root = RootOf<double>;

// RMSNorm: from the sum of squares.
template <class V>
[[gnu::always_inline]] inline RootOf<V> root_of_mean(V sum, const Count &elements, double eps) {
    const V v = sum / elements + eps;
    return {v, 1.0 / square_root(v)};
}

// LayerNorm: from the sums of d = x - m and of d^2, m being the first estimate of the mean.
template <class V>
[[gnu::always_inline]] inline RootOf<V> root_of_variance(V sum, V squares, const Count &elements, double eps) {
    const V variance = (squares - sum * sum / elements) / elements;
    const V v = (variance < 0.0 ? V{} : variance) + eps;
    return {v, 1.0 / square_root(v)};
}

[[gnu::always_inline]] inline bool is_finite_number(double v) {
    return (__builtin_bit_cast(uint64_t, v) >> 52 & 0x7ff) != 0x7ff;
}
// False if underflow may have cost digits of the squares, in the arithmetic of f32 or of f64.
[[gnu::always_inline]] inline bool is_large_enough(double root_argument, bool is_f64) {
    return !(root_argument < (is_f64 ? 0x1p-900 : 0x1p-100));
}

} // namespace rownorm
