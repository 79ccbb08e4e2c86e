// SPDX-License-Identifier: Apache-2.0
// What `rownorm bench` measures: six cells of one thread, each beside memcpy on the same buffers.
#pragma once

#include <rownorm/rownorm.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace command {

struct bench_cell {
    const char *use; ///< where such rows come up
    rownorm_op op;
    rownorm_type type;
    std::int64_t rows, n;
};

std::span<const bench_cell> bench_cells();

struct cell_result {
    double ns_per_row = 0;
    double rate = 0;        ///< bytes that must at least be moved, a second
    double memcpy_rate = 0; ///< of x to y
    double spread = 0;      ///< how much longer than the median the slowest tenth of the runs took, as a share
};

/// Runs and copies take turns for this long; medians.
cell_result measure_cell(const bench_cell &cell, double seconds);

struct limits_result {
    std::size_t bytes = 0; ///< of each of the two buffers
    double memcpy_rate = 0, read_rate = 0;
};

/// memcpy and reading, on buffers that are larger than the last-level cache (up to 64 MiB each).
limits_result measure_limits(std::size_t last_level_bytes, double seconds);

struct bench_machine {
    std::string cpu;                                       ///< "unknown" where the system does not say
    std::size_t cpus = 0;                                  ///< that this process may use
    double load = 0;                                       ///< of the last minute
    std::size_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0; ///< 0 where there is none, or the system does not say
};

bench_machine describe_machine();

struct bench_options {
    double seconds = 10;
    bool json = false;
};

void bench(const bench_options &options);

} // namespace command
