// SPDX-License-Identifier: Apache-2.0
// The short way for rows that lie along one dimension, near in the caches and without statistics: what a token of a
// decoder is, and the heads of its queries and keys. It takes no cursor and no strategy, whose cost a tiny call would
// feel, and has the same bits.
#pragma once

#include "pipeline.hpp"
#include "strategy.hpp"

namespace rownorm {

// The rows of `rows` from row `row` on.
template <class R>
R from(R rows, int64_t row) {
    return at(rows, row * rows.stride);
}
inline RowSet from(const RowSet &at, int64_t row) {
    return {from(at.x, row), from(at.residual, row), from(at.y, row), from(at.w, row), from(at.b, row)};
}

class PlainWork {
public:
    PlainWork(const Formula &formula, const RowKernels &kernels, AddKernel add, const RowSet &at)
        : formula_(formula), kernels_(kernels), add_(add), at_(at),
          apply_(kernels.apply_of(formula, at.w.data, at.b.data)) {}

    void sum(int64_t row, int64_t rows, Tile &t) {
        const Rows x = from(at_.x, row);
        const MutableRows residual = from(at_.residual, row);
        if (scale_short_rows(formula_, kernels_, x, as_input(residual), residual, rows, t))
            return;
        t.clear(rows);
        if (!residual.data)
            return kernels_.sum(x, rows, formula_.k, t.sums);
        add_(x, as_input(residual), residual, rows, formula_.n, t.sums);
    }

    bool close(int64_t row, int64_t rows, Tile &t) {
        return close_tile(formula_, kernels_.centred, summed(row), rows, t);
    }

    void write(int64_t row, int64_t rows, const Tile &t) {
        apply_({summed(row), from(at_.y, row), from(at_.w, row), from(at_.b, row), rows, formula_.n, t.scale,
                formula_.weight_offset, formula_.round, nullptr, nullptr, false, false});
    }

private:
    Rows summed(int64_t row) const { return from(at_.residual.data ? as_input(at_.residual) : at_.x, row); }

    const Formula &formula_;
    const RowKernels &kernels_;
    const AddKernel add_;
    const RowSet &at_;
    const ApplyKernel apply_;
};

// Short rows several at a time, long ones one by one; those that their kernel does not take are left.
inline RowsDone run_whole_rows(const Formula &formula, const WholeRowKernels &kernels, const RowSet &at, int64_t rows,
                               bool one_by_one) {
    if (kernels.several && rows > 1)
        return kernels.several(at, rows, formula);
    if (!kernels.one || !one_by_one)
        return {0, 0};
    RowSet row = at;
    for (int64_t done = 0;;) {
        const OneRow became =
            kernels.one(row.x.data, row.residual.data, row.y.data, row.w.data, row.b.data, formula.n, formula.eps);
        if (became != kNormalised)
            return {done, became == kSummed && row.residual.data};
        if (++done == rows)
            return {done, 0};
        row = from(row, 1);
    }
}

// Stops before rows of which one does not fit the usual arithmetic, whose y is then unwritten: run_rows() is to do
// those. The floating-point state is the default one. The kernels of `whole` may be NULL, and are for the gain and bias
// that are there.
inline RowsDone run_plain_rows(const Formula &formula, const RowKernels &kernels, AddKernel add,
                               const WholeRowKernels &whole, const RowSet &at, int64_t rows) noexcept {
    const int64_t row = formula.n * bytes_of(kernels.type);
    // f32 rows take so few instructions that one call for both passes is worth more than a root that is hidden.
    const RowsDone done = run_whole_rows(formula, whole, at, rows, whole.is_f32 || !kernels.ahead);
    if (done.summed || done.normalised == rows)
        return done;
    const RowSet left = from(at, done.normalised);
    rows -= done.normalised;
    PlainWork work(formula, kernels, add, left);
    const int64_t tile = rows_per_tile(row), stopped = run_tiles(work, rows, tile, kernels.ahead);
    const int64_t unfit = rows - stopped < tile ? rows - stopped : tile;
    return {done.normalised + stopped, at.residual.data ? unfit : 0};
}

} // namespace rownorm
