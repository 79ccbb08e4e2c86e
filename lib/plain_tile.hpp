// SPDX-License-Identifier: Apache-2.0
// The short way for one tile of rows that lie along one dimension, without a residual and statistics: what one token
// of a decoder is. It takes no cursor and no strategy, whose cost a tiny call would feel, and has the same bits.
#pragma once

#include "plan.hpp"

namespace rownorm {

// Short rows are taken in tiles, so that the latency of one row's sum, root and division is hidden by the next
// row's work; longer ones go one by one.
constexpr int64_t kTile = 16;
constexpr int64_t kTileElements = 256;
constexpr int64_t rows_per_tile(int64_t n) { return n <= kTileElements ? kTile : 1; }

// Runs 1 to rows_per_tile(n) rows. False, with nothing written, if one of them does not fit the usual arithmetic:
// run_rows() is to do them then.
bool run_plain_tile(const Formula &formula, const RowKernels &kernels, Rows x, MutableRows y, Rows w, Rows b,
                    int64_t rows) noexcept;

} // namespace rownorm
