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
constexpr int64_t kTileElements = 256;
constexpr int64_t rows_per_tile(int64_t n) { return n <= kTileElements ? kTile : 1; }

struct Tile {
    double sums[kTile];
    double squares[kTile]; // LayerNorm: of x - centre
    double centre[kTile];  // LayerNorm: the first estimate of the mean
    double mean[kTile];    // LayerNorm: as reported
    Scale scale[kTile];
    bool fits[kTile]; // the usual arithmetic holds the row
    bool all_fit;

    void clear(int64_t rows) {
        sums[0] = 0; // apart, as a loop alone becomes a call of memset, which costs as much as a tiny row
        for (int64_t r = 1; r < rows; r++)
            sums[r] = 0;
    }
};

// f32 arithmetic takes a statistic as an f32.
inline double as_computed(const Formula &formula, double v) { return formula.is_f64 ? v : double(float(v)); }

// Calls root(r, load) for the rows of a tile, two at a time as long as there are two, where `load` reads their sums;
// and then close(r, root) for each row by itself.
template <class F, class Close>
inline void for_roots(int64_t rows, F root, Close close) {
    int64_t r = 0;
    for (; r + 2 <= rows; r += 2) {
        const RootOf<Two> both = root(r, two_of);
        close(r, Root{both.argument[0], both.factor[0]});
        close(r + 1, Root{both.argument[1], both.factor[1]});
    }
    if (r < rows)
        close(r, root(r, [](const double *p) { return *p; }));
}

inline bool close_row(const Formula &formula, const Root &root, int64_t r, Tile &t) {
    t.scale[r].rstd = as_computed(formula, root.factor);
    return t.fits[r] = is_finite_number(t.sums[r]) && is_large_enough(root.argument, formula.is_f64);
}

// Closes RMSNorm and L2Norm rows from t.sums. True if all rows fit.
inline bool close_squares(const Formula &formula, int64_t rows, Tile &t) {
    bool all_fit = true;
    if (formula.op == ROWNORM_RMS_NORM)
        for_roots(
            rows, [&](int64_t r, auto load) { return root_of_mean(load(t.sums + r), formula.elements, formula.eps); },
            [&](int64_t r, const Root &root) { all_fit &= close_row(formula, root, r, t); });
    else
        for (int64_t r = 0; r < rows; r++)
            all_fit &= close_row(formula, root_of_squares(formula, t.sums[r], formula.eps, formula.eps), r, t);
    return all_fit;
}

// LayerNorm's first estimate of the mean, from t.sums, which are then cleared for the centred sums.
inline void estimate_means(const Formula &formula, int64_t rows, Tile &t) {
    for (int64_t r = 0; r < rows; r++) {
        t.fits[r] = is_finite_number(t.sums[r]);
        t.centre[r] = as_computed(formula, t.sums[r] / formula.elements);
        t.sums[r] = t.squares[r] = 0;
    }
}

inline bool close_centred_row(const Formula &formula, const Root &root, int64_t r, Tile &t) {
    const double delta = t.sums[r] / formula.elements;
    const bool first_sum_fits = t.fits[r];
    t.mean[r] = t.centre[r] + delta;
    t.scale[r].mean = t.centre[r];
    t.scale[r].delta = as_computed(formula, delta);
    return t.fits[r] = close_row(formula, root, r, t) && first_sum_fits && is_finite_number(t.squares[r]);
}

// Closes LayerNorm rows from the centred sums. True if all rows fit.
inline bool close_centred(const Formula &formula, int64_t rows, Tile &t) {
    bool all_fit = true;
    for_roots(
        rows,
        [&](int64_t r, auto load) {
            return root_of_variance(load(t.sums + r), load(t.squares + r), formula.elements, formula.eps);
        },
        [&](int64_t r, const Root &root) { all_fit &= close_centred_row(formula, root, r, t); });
    return all_fit;
}

// What the rows of a tile, which are in memory at `s` and their sums in t.sums, are scaled by. True if all fit.
inline bool close_tile(const Formula &formula, CentredKernel centred, Rows s, int64_t rows, Tile &t) {
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
