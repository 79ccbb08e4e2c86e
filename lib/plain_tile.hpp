// SPDX-License-Identifier: Apache-2.0
// The short way for one tile of rows that lie along one dimension, without statistics: what one token of a decoder
// is. It takes no cursor and no strategy, whose cost a tiny call would feel, and has the same bits.
#pragma once

#include "float_state.hpp"
#include "tile.hpp"

namespace rownorm {

struct PlainTile {
    Rows x;
    MutableRows residual; // of the type of x, which is added to it; data is NULL for none
    MutableRows y;
    Rows w, b;
};

// Runs 1 to rows_per_tile(n) rows. False if one of them does not fit the usual arithmetic: y is then unwritten, the
// residual is the sum already, and run_rows() is to do the rest.
inline bool run_plain_tile(const Formula &formula, const RowKernels &kernels, AddKernel add, const PlainTile &tile,
                           int64_t rows) noexcept {
    const DefaultFloatState state;
    Tile t(rows);
    Rows s = tile.x;
    if (tile.residual.data) {
        s = as_input(tile.residual);
        add(tile.x, s, tile.residual, rows, formula.n, t.sums);
    } else {
        kernels.sum(s, rows, formula.k, t.sums);
    }
    if (__builtin_expect(!close_tile(formula, kernels.centred, s, rows, t), 0))
        return false;
    const ApplyArguments to{
        s,       tile.y,  tile.w, tile.b, rows, formula.n, t.scale, formula.weight_offset, formula.round,
        nullptr, nullptr, false};
    kernels.apply_of(formula, tile.w.data, tile.b.data)(to);
    return true;
}

} // namespace rownorm
