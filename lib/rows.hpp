// SPDX-License-Identifier: Apache-2.0
// The row driver: runs a plan's kernels over a range of rows on the calling thread.
#pragma once

#include "plan.hpp"

namespace rownorm {

// Rows [begin, end) of the `rows` of a checked io. Takes no lock, allocates nothing, sets the floating-point
// state itself.
void run_rows(const Plan &plan, const rownorm_io &io, int64_t rows, int64_t begin, int64_t end) noexcept;

// The first row of part `part` when rows are dealt to parts evenly.
constexpr int64_t first_row(int64_t rows, int64_t part, int64_t parts) {
    if (parts == 1) // spares tiny calls the divisions
        return part * rows;
    const int64_t each = rows / parts, larger = rows % parts;
    return part * each + (part < larger ? part : larger);
}

} // namespace rownorm
