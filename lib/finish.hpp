// SPDX-License-Identifier: Apache-2.0
// The second pass over rows whose statistics are closed, and the other way for those that the usual arithmetic does
// not hold.
#pragma once

#include "cursor.hpp"
#include "tile.hpp"

namespace rownorm {

// Writes y and the statistics of rows that are in memory at `s`.
void finish_one_by_one(const Plan &plan, Cursor c, Rows s, int64_t rows, const Tile &t) noexcept;

inline void finish_rows(const Plan &plan, Cursor &c, Rows s, int64_t rows, const Tile &t) noexcept {
    if (__builtin_expect(!t.all_fit, 0))
        return finish_one_by_one(plan, c, s, rows, t);
    c.to.x = s;
    c.to.rows = rows;
    c.to.scale = t.scale;
    c.apply(c.to);
    if (c.mean || c.rstd)
        for (int64_t r = 0; r < rows; r++)
            put_statistics(plan, c, r, mean_of(plan, t, r), t.scale[r].rstd);
}

} // namespace rownorm
