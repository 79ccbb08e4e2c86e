// SPDX-License-Identifier: Apache-2.0
// The statistics of the few rows that are taken through each pass together: from their sums to what they are
// scaled by.
#pragma once

#include "cursor.hpp"
#include "scale.hpp"

namespace rownorm {

// Short rows are taken in tiles, so that the latency of one row's sum, root and division is hidden by the next
// row's work; longer ones go one by one.
constexpr int64_t kTile = 16;
constexpr int64_t rows_per_tile(int64_t row_bytes) { return row_bytes <= kShortRow ? kTile : 1; }

struct Tile {
    double sums[kTile];
    double squares[kTile]; // LayerNorm: of x - centre
    double centre[kTile];  // LayerNorm: the first estimate of the mean
    Scale scale[kTile];
    bool fits[kTile]; // the usual arithmetic holds the row
    bool all_fit;     // and the tile is closed

    void clear(int64_t rows) {
        all_fit = false;
        sums[0] = 0; // apart, as a loop alone becomes a call of memset, which costs as much as a tiny row
        for (int64_t r = 1; r < rows; r++)
            sums[r] = 0;
    }
};

// Calls find(r, load) for the rows of a tile, two at a time as long as there are two, where `load` reads their sums;
// and then close(r, found) for each row by itself, which says whether the row fits. True if all do.
template <class F, class Close>
inline bool close_by_twos(int64_t rows, F find, Close close) {
    bool all_fit = true;
    int64_t r = 0;
    for (; r + 2 <= rows; r += 2) {
        const auto both = find(r, two_of);
        all_fit &= close(r, part(both, 0));
        all_fit &= close(r + 1, part(both, 1));
    }
    if (r < rows)
        all_fit &= close(r, find(r, [](const double *p) { return *p; }));
    return all_fit;
}

// From the formula.
inline bool close_square(const Formula &formula, const Root &root, int64_t r, Tile &t) {
    t.scale[r].rstd = formula.is_f64 ? root.factor : double(float(root.factor));
    return t.fits[r] = is_finite_number(t.sums[r]) && is_large_enough(root.argument, formula.is_f64);
}

// f32 arithmetic: from bounds if they settle.
inline bool close_f32_square(const Formula &formula, const Bounds &bounds, int64_t r, Tile &t) {
    float rstd;
    if (__builtin_expect(!settle(bounds, rstd), 0))
        return close_square(formula, root_of_squares(formula, t.sums[r], formula.eps, formula.eps), r, t);
    t.scale[r].rstd = double(rstd);
    return t.fits[r] = true;
}

// RMSNorm and L2Norm, from t.sums. True if all rows fit.
inline bool close_squares(const Formula &formula, int64_t rows, Tile &t) {
    if (!formula.is_f64)
        return close_by_twos(
            rows, [&](int64_t r, auto load) { return bounds_of_squares(formula, load(t.sums + r)); },
            [&](int64_t r, const Bounds &bounds) { return close_f32_square(formula, bounds, r, t); });
    if (formula.op == ROWNORM_RMS_NORM)
        return close_by_twos(
            rows, [&](int64_t r, auto load) { return root_of_mean(load(t.sums + r), formula.elements, formula.eps); },
            [&](int64_t r, const Root &root) { return close_square(formula, root, r, t); });
    bool all_fit = true;
    for (int64_t r = 0; r < rows; r++)
        all_fit &= close_square(formula, root_of_squares(formula, t.sums[r], formula.eps, formula.eps), r, t);
    return all_fit;
}

// LayerNorm's first estimate of the mean, from t.sums, which are then cleared for the centred sums. (Those are not
// finite if the first one is not.)
inline void estimate_means(const Formula &formula, int64_t rows, Tile &t) {
    for (int64_t r = 0; r < rows; r++) {
        t.centre[r] = formula.is_f64 ? t.sums[r] / formula.elements : double(f32_quotient(t.sums[r], formula.elements));
        t.sums[r] = t.squares[r] = 0;
    }
}

// LayerNorm, of f32 arithmetic.
inline bool close_f32_variances(const Formula &formula, int64_t rows, Tile &t) {
    const Count elements = formula.elements;
    const double eps = formula.eps;
    return close_by_twos(
        rows,
        [&](int64_t r, auto load) { return bounds_of_variance(load(t.sums + r), load(t.squares + r), elements, eps); },
        [&](int64_t r, const Bounds &bounds) {
            float rstd;
            t.fits[r] = f32_root_of_variance(bounds, t.sums[r], t.squares[r], elements, eps, rstd);
            t.scale[r] = {t.centre[r], double(f32_quotient(t.sums[r], elements)), double(rstd)};
            return t.fits[r];
        });
}

// Closes LayerNorm rows from the centred sums. True if all rows fit.
inline bool close_centred(const Formula &formula, int64_t rows, Tile &t) {
    if (!formula.is_f64)
        return close_f32_variances(formula, rows, t);
    const Count elements = formula.elements;
    return close_by_twos(
        rows,
        [&](int64_t r, auto load) {
            return root_of_variance(load(t.sums + r), load(t.squares + r), elements, formula.eps);
        },
        [&](int64_t r, const Root &root) {
            t.scale[r] = {t.centre[r], t.sums[r] / elements, root.factor};
            return t.fits[r] = is_finite_number(t.sums[r]) && is_finite_number(t.squares[r]) &&
                               is_large_enough(root.argument, true);
        });
}

// The mean as it is reported.
inline double mean_of(const Formula &formula, const Tile &t, int64_t r) {
    return formula.op == ROWNORM_LAYER_NORM ? t.centre[r] + t.sums[r] / formula.elements : 0;
}

// Short rows, from what they are to what they are scaled by; out = x + residual, if there is one, is written. Where
// they do not fit, and are not closed, their sums are in t.sums. False, and nothing is done, if there is no such
// kernel.
inline bool scale_short_rows(const Formula &formula, const RowKernels &kernels, Rows x, Rows residual, MutableRows out,
                             int64_t rows, Tile &t) {
    const ShortRowKernels &of_short = kernels.of_short;
    if (rows < of_short.fewest || !(residual.data ? of_short.add != nullptr : of_short.scale != nullptr))
        return false;
    t.all_fit = residual.data ? of_short.add(x, residual, out, rows, formula, t.scale)
                              : of_short.scale(x, rows, formula, t.scale);
    if (__builtin_expect(!t.all_fit, 0)) {
        t.clear(rows);
        kernels.sum(residual.data ? as_input(out) : x, rows, formula.k, t.sums);
    }
    return true;
}

// What the rows of a tile, which are in memory at `s` and their sums in t.sums, are scaled by. True if all fit.
inline bool close_tile(const Formula &formula, CentredKernel centred, Rows s, int64_t rows, Tile &t) {
    if (t.all_fit)
        return true;
    if (formula.op != ROWNORM_LAYER_NORM)
        return close_squares(formula, rows, t);
    estimate_means(formula, rows, t);
    centred(s, rows, formula.n, t.centre, t.sums, t.squares);
    return close_centred(formula, rows, t);
}

inline void put_statistic(const Formula &formula, char *to, int64_t row, double v) {
    if (!to)
        return;
    if (formula.is_f64)
        reinterpret_cast<double *>(to)[row] = v;
    else
        reinterpret_cast<float *>(to)[row] = float(v);
}

inline void put_statistics(const Formula &formula, const Cursor &c, int64_t row, double mean, double rstd) {
    put_statistic(formula, c.mean, row, mean);
    put_statistic(formula, c.rstd, row, rstd);
}

} // namespace rownorm
