// SPDX-License-Identifier: Apache-2.0
// From the sums of a row to the factor that it is scaled by, in f64. Also for code that is compiled per
// ISA: nothing here may become a function of its own, which ISAs would share by its name.
#pragma once

#include "two.hpp"

#include <cstdint>

namespace rownorm {

// A number of elements to divide by.
struct Count {
    double value, inverse;
    bool is_power_of_2; // whose inverse is exact: a product with it has the bits of the quotient, sooner
};
[[gnu::always_inline]] inline Count count_of(int64_t n) { return {double(n), 1.0 / double(n), (n & (n - 1)) == 0}; }
template <class V> // double, or Two for two rows
[[gnu::always_inline]] inline V operator/(V sum, const Count &count) {
    return count.is_power_of_2 ? sum * count.inverse : sum / count.value;
}

template <class V>
struct RootOf {
    V argument; // what stands under the root
    V factor;   // 1/sqrt(v) or 1/d
};
using Root = RootOf<double>;
[[gnu::always_inline]] inline Root part(const RootOf<Two> &two, int i) { return {two.argument[i], two.factor[i]}; }

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

// The formulas above end, in f32 arithmetic, with a rounding to f32. Bounds are numbers on either side of what they
// give before it, which take half of the time: a product in place of each division by n, and a root beside a division
// in place of a root and then a division. Where both bounds are rounded to the same f32, so is all that lies between.
// They are 2^-48 away, relatively, and miss the formulas by less than 2^-49: the roundings of both together are off by
// 12 * 2^-53 at most.
constexpr double kBelow = 1 - 0x1p-48, kAbove = 1 + 0x1p-48;
constexpr double kSettledFrom = 0x1p-99; // what stands under the root, so that no rounding of it decides what fits

template <class V>
struct BoundsOf {
    V argument, low, high;
};
using Bounds = BoundsOf<double>;
[[gnu::always_inline]] inline Bounds part(const BoundsOf<Two> &two, int i) {
    return {two.argument[i], two.low[i], two.high[i]};
}

template <class V>
[[gnu::always_inline]] inline BoundsOf<V> bounds_of_inverse_root(V v) {
    const V root = square_root(v), inverse = 1.0 / v;
    return {v, root * (inverse * kBelow), root * (inverse * kAbove)};
}
template <class V>
[[gnu::always_inline]] inline BoundsOf<V> bounds_of_mean(V sum, const Count &elements, double eps) {
    return bounds_of_inverse_root(sum * elements.inverse + eps);
}
template <class V>
[[gnu::always_inline]] inline BoundsOf<V> bounds_of_variance(V sum, V squares, const Count &elements, double eps) {
    const V correction = sum * sum * elements.inverse;
    const V v = (squares - correction) * elements.inverse + eps;
    return bounds_of_inverse_root(correction <= 0.5 * squares ? v : V{}); // else digits are lost, and 0 settles nothing
}

// Whether bounds say all: what the f32 is, and that the row fits. Not if one of them is NaN, which they are if the sums
// overflowed.
[[gnu::always_inline]] inline bool settle(const Bounds &bounds, float &factor) {
    factor = float(bounds.low);
    return factor == float(bounds.high) && bounds.argument > kSettledFrom;
}

// The factor as an f32, from bounds or else by the formula. False if f32 arithmetic does not hold the row.
[[gnu::always_inline]] inline bool f32_root_of_mean(double sum, const Count &elements, double eps, float &factor) {
    if (__builtin_expect(settle(bounds_of_mean(sum, elements, eps), factor), 1))
        return true;
    const Root root = root_of_mean(sum, elements, eps);
    factor = float(root.factor);
    return is_finite_number(sum) && is_large_enough(root.argument, false);
}
[[gnu::always_inline]] inline bool f32_root_of_variance(const Bounds &bounds, double sum, double squares,
                                                        const Count &elements, double eps, float &factor) {
    if (__builtin_expect(settle(bounds, factor), 1))
        return true;
    const Root root = root_of_variance(sum, squares, elements, eps);
    factor = float(root.factor);
    return is_finite_number(sum) && is_finite_number(squares) && is_large_enough(root.argument, false);
}
[[gnu::always_inline]] inline bool f32_root_of_variance(double sum, double squares, const Count &elements, double eps,
                                                        float &factor) {
    return f32_root_of_variance(bounds_of_variance(sum, squares, elements, eps), sum, squares, elements, eps, factor);
}

// sum / n as an f32.
[[gnu::always_inline]] inline float f32_quotient(double sum, const Count &elements) {
    const auto low = float(sum * (elements.inverse * kBelow)), high = float(sum * (elements.inverse * kAbove));
    return __builtin_expect(low == high, 1) ? low : float(sum / elements);
}

} // namespace rownorm
