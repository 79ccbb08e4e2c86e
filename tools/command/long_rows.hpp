// SPDX-License-Identifier: Apache-2.0
// Rows that do not fit the memory: each is read once for every sum that it needs, and once more to be written.
#pragma once

#include "findings.hpp"
#include "progress.hpp"
#include "rows.hpp"
#include "vector_input.hpp"

namespace command {

/// The files; all inputs must have random access. Those that may be null are optional.
struct long_ends {
    row_reader *x = nullptr;
    row_reader *residual = nullptr;
    vector_input *weight = nullptr;
    vector_input *bias = nullptr;
    row_writer *y = nullptr;
    row_writer *residual_out = nullptr;
};

/// Throws failure.
findings normalize_long_rows(const normalize_options &options, const job_shape &shape, const long_ends &ends,
                             const examiner &examine, progress &shown);

} // namespace command
