// SPDX-License-Identifier: Apache-2.0
// The library's plan for one job, run on blocks of dense rows.
#pragma once

#include "normalize.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace command {

/// What is known of a job once its inputs' headers have been read.
struct job_shape {
    std::int64_t rows = 0;
    std::int64_t n = 0; ///< >= 1
    rownorm_type x = ROWNORM_F32;
    rownorm_type y = ROWNORM_F32;
    rownorm_type residual = ROWNORM_TYPE_AS_X;
    /// Rows that are read and written together, as one row of a layout: more than 1 where input and residual
    /// are in different orders.
    std::int64_t rows_per_unit = 1;

    std::int64_t units() const { return rows / rows_per_unit; }
    std::int64_t elements_per_unit() const { return n * rows_per_unit; }
};

/// What t is rounded to before the weight: for f32 and f64 nothing, since it is of that type anyway.
rownorm_round rounding(const normalize_options &options, rownorm_type y);

/// How many elements of a row its statistic is of: the k, or the share p as the library rounds it.
std::int64_t elements_in_statistic(const normalize_options &options, std::int64_t n);

/// Dense rows; y may be x where their types have one size. residual may be null.
struct row_block {
    std::int64_t rows = 0;
    std::byte *x = nullptr;
    std::byte *residual = nullptr; ///< becomes x + residual
    std::byte *y = nullptr;
};

class normalizer {
public:
    /// `weight` and `bias` are empty or hold n elements of f32, or f64 if x is. Throws failure.
    normalizer(const normalize_options &options, const job_shape &shape, std::uint32_t max_threads,
               std::vector<std::byte> weight, std::vector<std::byte> bias);

    /// May be called from several threads at once. Throws failure.
    void run(const row_block &block) const;
    /// n elements of f32, or f64 if x is; null if there is none.
    const std::byte *weight() const { return weight_.empty() ? nullptr : weight_.data(); }
    const std::byte *bias() const { return bias_.empty() ? nullptr : bias_.data(); }
    const char *isa() const { return rownorm_plan_isa(plan_.get()); }

private:
    rownorm_descriptor descriptor_{};
    std::unique_ptr<rownorm_plan, void (*)(rownorm_plan *)> plan_;
    std::vector<std::byte> weight_;
    std::vector<std::byte> bias_;
};

} // namespace command
