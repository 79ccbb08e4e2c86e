// SPDX-License-Identifier: Apache-2.0
// From the sums of a row to the factor it is scaled by: the formulas, in f64, once for every path.
#pragma once

#include "plan.hpp"

namespace rownorm {

// RMSNorm and L2Norm: from the sum of squares. `outer_eps` is eps in the unit of x, `eps` in that of x^2:
// they differ only where a row was rescaled. NaN is never hidden: each max keeps its first argument then.
inline Root root_of_squares(const Formula &formula, double sum, double eps, double outer_eps) {
    if (formula.op == ROWNORM_RMS_NORM)
        return root_of_mean(sum, formula.elements, eps);
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

// Bounds of the same where they serve, of one sum or of two; others settle nothing.
template <class V>
inline BoundsOf<V> bounds_of_squares(const Formula &formula, V sum) {
    const double eps = formula.eps;
    if (formula.op == ROWNORM_RMS_NORM)
        return bounds_of_mean(sum, formula.elements, eps);
    switch (formula.l2_eps) {
    case ROWNORM_L2_EPS_ADD:
        return bounds_of_inverse_root(V{});
    case ROWNORM_L2_EPS_INSIDE:
        return bounds_of_inverse_root(sum + eps);
    case ROWNORM_L2_EPS_CLAMP:
        return bounds_of_inverse_root(sum < eps ? V{} : sum);
    default: // the root is clearly above eps, or left to the formula
        return bounds_of_inverse_root(sum > eps * eps * (1 + 0x1p-40) ? sum : V{});
    }
}

} // namespace rownorm
