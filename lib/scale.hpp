// SPDX-License-Identifier: Apache-2.0
// From the sums of a row to the factor it is scaled by: the formulas, in f64, once for every path.
#pragma once

#include "plan.hpp"
#include "two.hpp"

namespace rownorm {

inline bool is_finite_number(double v) { return (__builtin_bit_cast(uint64_t, v) >> 52 & 0x7ff) != 0x7ff; }

// Of one row as a double, of two as a Two.
template <class V>
struct RootOf {
    V argument; // what stands under the root
    V factor;   // 1/sqrt(v) or 1/d
};
using Root = RootOf<double>;

// RMSNorm: from the sum of squares.
template <class V>
RootOf<V> root_of_mean(const Formula &formula, V sum, double eps) {
    const V v = sum / formula.elements + eps;
    return {v, 1.0 / square_root(v)};
}

// RMSNorm and L2Norm: from the sum of squares. `outer_eps` is eps in the unit of x, `eps` in that of x^2:
// they differ only where a row was rescaled. NaN is never hidden: each max keeps its first argument then.
inline Root root_of_squares(const Formula &formula, double sum, double eps, double outer_eps) {
    if (formula.op == ROWNORM_RMS_NORM)
        return root_of_mean(formula, sum, eps);
    switch (formula.l2_eps) {
    case ROWNORM_L2_EPS_ADD:
        return {sum, 1.0 / (__builtin_sqrt(sum) + outer_eps)};
    case ROWNORM_L2_EPS_INSIDE:
        return {sum + eps, 1.0 / __builtin_sqrt(sum + eps)};
    case ROWNORM_L2_EPS_CLAMP: {
        const double v = sum < eps ? eps : sum;
        return {v, 1.0 / __builtin_sqrt(v)};
    }
    default: {
        const double d = __builtin_sqrt(sum);
        return {sum, 1.0 / (d < outer_eps ? outer_eps : d)};
    }
    }
}

// LayerNorm: from the sums of d = x - m and of d^2, m being the first estimate of the mean.
template <class V>
RootOf<V> root_of_variance(const Formula &formula, V sum, V squares, double eps) {
    const Count &n = formula.elements; // k is n for LayerNorm
    const V variance = (squares - sum * sum / n) / n;
    const V v = (variance < 0.0 ? V{} : variance) + eps;
    return {v, 1.0 / square_root(v)};
}

} // namespace rownorm
