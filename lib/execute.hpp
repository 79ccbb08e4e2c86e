// SPDX-License-Identifier: Apache-2.0
// A checked batch, run whole: how many tasks it is worth, and who runs them.
#pragma once

#include "plan.hpp"

namespace rownorm {

// On the library's threads, or on this one where the batch is small.
rownorm_status run_batch(const Plan &plan, const rownorm_io &io, int64_t rows) noexcept;

// On the caller's executor.
rownorm_status run_batch_on(const Plan &plan, const rownorm_io &io, int64_t rows, rownorm_parallel_for_fn parallel_for,
                            void *executor_context) noexcept;

} // namespace rownorm
