// SPDX-License-Identifier: Apache-2.0
// The short way for rows that lie along one dimension, near in the caches and without statistics: what a token of a
// decoder is, and the heads of its queries and keys. It takes no cursor and no strategy, whose cost a tiny call would
// feel, and has the same bits.
#pragma once

#include "float_state.hpp"
#include "pipeline.hpp"
#include "strategy.hpp"

namespace rownorm {

struct PlainRows {
    Rows x;
    MutableRows residual; // of the type of x, which is added to it; data is NULL for none
    MutableRows y;
    Rows w, b;
};

class PlainWork {
public:
    PlainWork(const Formula &formula, const RowKernels &kernels, AddKernel add, const PlainRows &at)
        : formula_(formula), kernels_(kernels), add_(add), at_(at),
          apply_(kernels.apply_of(formula, at.w.data, at.b.data)) {}

    void sum(int64_t row, int64_t rows, Tile &t) {
        t.clear(rows);
        const Rows x = step(at_.x, row);
        if (!at_.residual.data)
            return kernels_.sum(x, rows, formula_.k, t.sums);
        const MutableRows residual = step(at_.residual, row);
        add_(x, as_input(residual), residual, rows, formula_.n, t.sums);
    }

    bool close(int64_t row, int64_t rows, Tile &t) {
        return close_tile(formula_, kernels_.centred, summed(row), rows, t);
    }

    void write(int64_t row, int64_t rows, const Tile &t) {
        apply_({summed(row), step(at_.y, row), step(at_.w, row), step(at_.b, row), rows, formula_.n, t.scale,
                formula_.weight_offset, formula_.round, nullptr, nullptr, false});
    }

private:
    template <class R>
    static R step(R rows, int64_t row) {
        return at(rows, row * rows.stride);
    }
    Rows summed(int64_t row) const { return step(at_.residual.data ? as_input(at_.residual) : at_.x, row); }

    const Formula &formula_;
    const RowKernels &kernels_;
    const AddKernel add_;
    const PlainRows &at_;
    const ApplyKernel apply_;
};

// Runs at least one row. Returns how many it did: it stops before a tile of which a row does not fit the usual
// arithmetic, whose residual is then the sum already, and whose y is unwritten: run_rows() is to do that one.
inline int64_t run_plain_rows(const Formula &formula, const RowKernels &kernels, AddKernel add, const PlainRows &at,
                              int64_t rows) noexcept {
    const DefaultFloatState state;
    PlainWork work(formula, kernels, add, at);
    const int64_t row = formula.n * bytes_of(kernels.type);
    return run_tiles(work, rows, rows_per_tile(formula.n), may_run_ahead(row));
}

} // namespace rownorm
