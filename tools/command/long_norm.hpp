// SPDX-License-Identifier: Apache-2.0
// One row that does not fit the memory, in passes over its chunks.
#pragma once

#include "normalizer.hpp"

#include <cstdint>
#include <functional>
#include <span>

namespace command {

/// Takes the next elements of a row: 1,024, or fewer at the end.
/// The library's unit of summation, in elements.
constexpr std::int64_t chunk_elements = 1024;

using take_chunk = std::function<void(std::span<const double>)>;
/// Goes through the first `count` elements of a row.
using pass_over_row = std::function<void(std::int64_t count, const take_chunk &)>;

/**
 * The library's arithmetic, element by element: the same sums in the same lanes, chunks and order, the same
 * cases of overflow and underflow, and so the same bits. Slow, and only for rows that rownorm_execute() cannot
 * be given. What the lanes are, and why: README, numerics.
 */
class long_norm {
public:
    long_norm(const normalize_options &options, const job_shape &shape);

    /// Finds the row's statistics, in one to six passes.
    void measure(const pass_over_row &pass);

    /// y of one element. `weight` and `bias` may be null.
    double apply(double x, const double *weight, const double *bias) const;

private:
    enum class way { f32, f64 };

    void measure_squares(const pass_over_row &pass);
    void measure_variance(const pass_over_row &pass);
    void redo_squares(const pass_over_row &pass);
    void redo_variance(const pass_over_row &pass);
    void rescale(const pass_over_row &pass);
    void rescale_squares(const pass_over_row &pass, double largest);
    void rescale_variance(const pass_over_row &pass, double largest);
    double factor_of_squares(double sum, double eps, double outer_eps);
    double factor_of_variance(double sum, double squares, double eps);
    bool fits(double sum) const;
    double apply_f32(double x, const double *weight, const double *bias) const;
    double apply_f64(double x, const double *weight, const double *bias) const;
    double rounded(double t) const;

    const rownorm_op op_;
    const rownorm_l2_eps l2_eps_;
    const rownorm_round round_;
    const bool is_f64_;
    const std::int64_t n_, k_;
    double eps_, offset_;

    // y = (((x * 2^-x_exponent - mean) - mean_error) * 2^-d_exponent - delta) * factor, then gain and bias.
    way way_ = way::f64;
    int x_exponent_ = 0, d_exponent_ = 0;
    double mean_ = 0, mean_error_ = 0, delta_ = 0, factor_ = 0;
    double root_argument_ = 0;
};

} // namespace command
