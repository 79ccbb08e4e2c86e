// SPDX-License-Identifier: Apache-2.0
// Rows that do not fit the memory: each is read once for every sum that it needs, and once more to be written.
#pragma once

#include "findings.hpp"
#include "progress.hpp"
#include "rows.hpp"
#include "vector_input.hpp"

namespace command {

/// All inputs must have random access; weight and bias may be null.
struct long_ends : row_ends {
    vector_input *weight = nullptr;
    vector_input *bias = nullptr;
};

/// Throws failure.
findings normalize_long_rows(const normalize_options &options, const job_shape &shape, const long_ends &ends,
                             const examiner &examine, progress &shown);

} // namespace command
