// SPDX-License-Identifier: Apache-2.0
// The row driver: runs a plan's kernels over a range of rows on the calling thread.
#pragma once

#include "plan.hpp"

namespace rownorm {

// Rows [begin, end) of the `rows` of a checked io. Takes no lock, allocates nothing, sets the floating-point
// state itself.
void run_rows(const Plan &plan, const rownorm_io &io, int64_t rows, int64_t begin, int64_t end) noexcept;

// Short rows are taken in tiles, so that the latency of one row's sum, root and division is hidden by the next
// row's work; longer ones go one by one.
constexpr int64_t kTile = 16;
constexpr int64_t kTileElements = 256;
constexpr int64_t rows_per_tile(const Plan &plan) { return plan.n <= kTileElements ? kTile : 1; }

// The short way for one tile without a residual and statistics: what one token of a decoder is. `to` says
// where. False, with nothing written, if some row does not fit the usual arithmetic: run_rows() does it then.
inline ApplyArguments arguments_of(const Plan &plan, Rows x, MutableRows y, Rows w, Rows b) {
    return {x, y, w, b, 0, plan.n, nullptr, plan.weight_offset, plan.round, nullptr, nullptr, false};
}
bool run_plain_tile(const Plan &plan, ApplyArguments &to, int64_t rows) noexcept;

// The first row of part `part` when rows are dealt to parts evenly.
constexpr int64_t first_row(int64_t rows, int64_t part, int64_t parts) {
    if (parts == 1) // spares tiny calls the divisions
        return part * rows;
    const int64_t each = rows / parts, larger = rows % parts;
    return part * each + (part < larger ? part : larger);
}

} // namespace rownorm
