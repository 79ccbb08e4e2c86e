// SPDX-License-Identifier: Apache-2.0
// Rows from files through the library and back to files, in blocks, within bounded memory.
#pragma once

#include "findings.hpp"
#include "progress.hpp"
#include "rows.hpp"

namespace command {

/// How the rows are treated on their way.
struct stream_work {
    const normalizer &norm;
    const examiner &examine;
    progress &shown;
    std::uint32_t threads;
};

/// How a job is cut into blocks. Rows are those of the files' layouts, see job_shape::rows_per_unit.
struct block_plan {
    std::int64_t rows = 0;
    std::int64_t rows_per_slab = 1; ///< rows that stand side by side in a file; a block ends where a slab does
    std::int64_t rows_per_block = 0;
    std::int64_t blocks = 0;
    std::size_t blocks_in_memory = 1;
    bool long_rows = false; ///< not even one row fits: it is read in parts (long_rows.hpp)
};

/// `memory_bytes` is for blocks, without weight and bias. `verifies`: inputs are kept beside the results.
block_plan plan_blocks(const job_shape &shape, bool has_residual, bool verifies, std::int64_t rows_per_slab,
                       std::size_t memory_bytes, std::uint32_t threads);

/// Reading, computing and writing overlap if there is more than one block. Throws what the stages throw.
findings stream_rows(const block_plan &plan, const job_shape &shape, const row_ends &ends, const stream_work &work);

} // namespace command
