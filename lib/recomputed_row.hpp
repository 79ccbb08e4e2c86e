// SPDX-License-Identifier: Apache-2.0
// A residual whose sum has no place in memory: it is not written back, and y is of another type.
#pragma once

#include "cursor.hpp"

namespace rownorm {

// One row, the cursor's. The sum is made again for each pass, chunk by chunk, in a small buffer.
void run_recomputed_row(const Plan &plan, const Cursor &c) noexcept;

} // namespace rownorm
