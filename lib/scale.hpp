// SPDX-License-Identifier: Apache-2.0
// From the sums of a row to the factor it is scaled by: the formulas, in f64, once for every path. Also for code that
// is compiled per ISA: nothing here may become a function of its own.
#pragma once

#include "formula.hpp"

namespace rownorm {

// RMSNorm and L2Norm: from the sum of squares. `outer_eps` is eps in the unit of x, `eps` in that of x^2:
// they differ only where a row was rescaled. NaN is never hidden: each max keeps its first argument then.
[[gnu::always_inline]] inline Root root_of_squares(const Formula &formula, double sum, double eps, double outer_eps) {
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

// What stands under that root, sum * factor + added, where it is above `from`; below, or where there is no such thing,
// only the formula serves.
struct UnderRoot {
    double factor, added, from;
};
[[gnu::always_inline]] inline UnderRoot under_root_of_squares(const Formula &formula) {
    const double eps = formula.eps;
    if (formula.op == ROWNORM_RMS_NORM)
        return {formula.elements.inverse, eps, kSettledFrom};
    switch (formula.l2_eps) {
    case ROWNORM_L2_EPS_ADD:
        return {1, 0, __builtin_inf()};
    case ROWNORM_L2_EPS_INSIDE:
        return {1, eps, kSettledFrom};
    case ROWNORM_L2_EPS_CLAMP:
        return {1, 0, eps > kSettledFrom ? eps : kSettledFrom};
    default: { // the root is clearly above eps
        const double square = eps * eps * (1 + 0x1p-40);
        return {1, 0, square > kSettledFrom ? square : kSettledFrom};
    }
    }
}

// Bounds of the factor where they serve, of one sum or of two; others settle nothing.
template <class V>
[[gnu::always_inline]] inline BoundsOf<V> bounds_of_squares(const Formula &formula, V sum) {
    const UnderRoot under = under_root_of_squares(formula);
    const V v = sum * under.factor + under.added;
    return bounds_of_inverse_root(v > under.from ? v : V{});
}

// The factor of f32 arithmetic, by the formula. False if that does not hold the row.
[[gnu::always_inline]] inline bool f32_root_of_squares(const Formula &formula, double sum, float &factor) {
    const Root root = root_of_squares(formula, sum, formula.eps, formula.eps);
    factor = float(root.factor);
    return is_finite_number(sum) && is_large_enough(root.argument, false);
}

} // namespace rownorm
