// SPDX-License-Identifier: Apache-2.0
// A row so long that several threads share it, pass by pass.
#pragma once

#include "cursor.hpp"

namespace rownorm {

// Whether rows of this plan may be shared, and are long enough to be worth a few rounds of waking threads.
bool is_long_row(const Plan &plan, const rownorm_io &io) noexcept;

// Row `row` of a checked io, by at most `threads` threads. The bits are those of one thread, as the sums of the
// row's chunks are added in their order.
void run_long_row(const Plan &plan, const rownorm_io &io, int64_t row, size_t threads) noexcept;

} // namespace rownorm
