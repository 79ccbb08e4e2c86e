// SPDX-License-Identifier: Apache-2.0
// The statistics of the few rows that are taken through each pass together: from their sums to what they are
// scaled by.
#pragma once

#include "cursor.hpp"
#include "rows.hpp"
#include "scale.hpp"

namespace rownorm {

struct Tile {
    double sums[kTile];
    double squares[kTile]; // LayerNorm: of x - centre
    double centre[kTile];  // LayerNorm: the first estimate of the mean
    double mean[kTile];    // LayerNorm: as reported
    Scale scale[kTile];
    bool fits[kTile]; // the usual arithmetic holds the row

    explicit Tile(int64_t rows) {
        sums[0] = 0; // apart, as a loop alone becomes a call of memset, which costs as much as a tiny row
        for (int64_t r = 1; r < rows; r++)
            sums[r] = 0;
    }
};

// f32 arithmetic takes a statistic as an f32.
inline double as_computed(const Plan &plan, double v) { return plan.x == kF64 ? v : double(float(v)); }

inline bool is_large_enough(const Plan &plan, double root_argument) {
    return !(root_argument < (plan.x == kF64 ? 0x1p-900 : 0x1p-100)); // else underflow may have cost digits
}

// Closes RMSNorm and L2Norm rows from t.sums. True if all rows fit.
inline bool close_squares(const Plan &plan, int64_t rows, Tile &t) {
    bool all_fit = true;
    for (int64_t r = 0; r < rows; r++) {
        const Root root = root_of_squares(plan, t.sums[r], plan.eps, plan.eps);
        t.scale[r].rstd = as_computed(plan, root.factor);
        t.fits[r] = is_finite_number(t.sums[r]) && is_large_enough(plan, root.argument);
        all_fit &= t.fits[r];
    }
    return all_fit;
}

// LayerNorm's first estimate of the mean, from t.sums, which are then cleared for the centred sums.
inline void estimate_means(const Plan &plan, int64_t rows, Tile &t) {
    for (int64_t r = 0; r < rows; r++) {
        t.fits[r] = is_finite_number(t.sums[r]);
        t.centre[r] = as_computed(plan, t.sums[r] / plan.elements);
        t.sums[r] = t.squares[r] = 0;
    }
}

// Closes LayerNorm rows from the centred sums. True if all rows fit.
inline bool close_centred(const Plan &plan, int64_t rows, Tile &t) {
    bool all_fit = true;
    for (int64_t r = 0; r < rows; r++) {
        const Root root = root_of_variance(plan, t.sums[r], t.squares[r], plan.eps);
        const double delta = t.sums[r] / plan.elements;
        t.mean[r] = t.centre[r] + delta;
        t.scale[r] = {t.centre[r], as_computed(plan, delta), as_computed(plan, root.factor)};
        t.fits[r] = t.fits[r] && is_finite_number(t.sums[r]) && is_finite_number(t.squares[r]) &&
                    is_large_enough(plan, root.argument);
        all_fit &= t.fits[r];
    }
    return all_fit;
}

inline void put_statistic(const Plan &plan, char *to, int64_t row, double v) {
    if (!to)
        return;
    if (plan.x == kF64)
        reinterpret_cast<double *>(to)[row] = v;
    else
        reinterpret_cast<float *>(to)[row] = float(v);
}

inline void put_statistics(const Plan &plan, const Cursor &c, int64_t row, double mean, double rstd) {
    put_statistic(plan, c.mean, row, mean);
    put_statistic(plan, c.rstd, row, rstd);
}

} // namespace rownorm
