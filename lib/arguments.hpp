// SPDX-License-Identifier: Apache-2.0
// What must hold of the caller's rows before anything is read or written.
#pragma once

#include "plan.hpp"

namespace rownorm {

// Checks an io against a plan; `*rows` is how many rows there are, 0 being nothing to do.
rownorm_status check_io(const Plan *plan, const rownorm_io *io, int64_t *rows) noexcept;

} // namespace rownorm
