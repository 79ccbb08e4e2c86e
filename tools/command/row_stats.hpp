// SPDX-License-Identifier: Apache-2.0
// What `rownorm info` says of the rows of an array.
#pragma once

#include "progress.hpp"
#include "rows.hpp"

namespace command {

/// An element by its row and its place in it; -1 if there is none.
struct place {
    std::int64_t row = -1;
    std::int64_t channel = -1;
};

struct row_stats {
    std::int64_t rows = 0;
    std::int64_t n = 0;
    std::int64_t nan_elements = 0, nan_rows = 0;
    std::int64_t infinite_elements = 0, infinity_rows = 0;

    /// The following are of the rows without NaN and infinity.
    std::int64_t finite_rows = 0;
    double least_rms = 0, largest_rms = 0;
    std::int64_t least_row = -1, largest_row = -1;
    double largest_value = 0; ///< by its magnitude
    place largest_at;
    std::int64_t largest_channel = -1; ///< by its rms over all rows; -1 also if rows are too long for that
    double largest_channel_rms = 0;

    /// Rms of each finite row, or of every `sampled`-th row where there are more than most_rms.
    std::vector<double> rms;
    std::int64_t sampled = 1;
    double median_rms = 0;
};

constexpr std::int64_t most_rms = std::int64_t(1) << 24;
/// Longer rows have no statistics of channels.
constexpr std::int64_t most_channels = std::int64_t(1) << 17;

/// Reads all elements. Throws failure.
row_stats measure_rows(array_input &in, const row_layout &layout, progress &shown);

/// A histogram of row_stats::rms: `counts[i]` rows are from edges[i] to edges[i + 1].
struct histogram {
    bool logarithmic = false;
    std::vector<double> edges;
    std::vector<std::int64_t> counts;
};
histogram histogram_of(const row_stats &stats, std::size_t bins);

} // namespace command
