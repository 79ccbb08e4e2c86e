// SPDX-License-Identifier: Apache-2.0
// --verify: the results once more, in long double by the plain formulas, and how far off they are.
#pragma once

#include "long_norm.hpp"

#include <string>

namespace command {

/// The statistics of one row in long double.
class exact_norm {
public:
    exact_norm(const normalize_options &options, const job_shape &shape);

    void measure(const pass_over_row &pass);
    /// The normalised value, before gain and bias.
    long double normalised(double x) const { return (static_cast<long double>(x) - mean_) * factor_; }

private:
    long double factor_of(long double squares) const;

    const rownorm_op op_;
    const rownorm_l2_eps l2_eps_;
    const std::int64_t n_, k_;
    const long double eps_;
    long double mean_ = 0, factor_ = 0;
};

/// What a check found. Checks of parts of a job add up.
struct verification {
    double largest_ulp = 0;   ///< of the output's type, at |t * w'| + |b| (LayerNorm: max(|t|, 1) * |w'| + |b|)
    std::int64_t beyond = 0;  ///< elements outside the documented bound
    std::int64_t checked = 0; ///< elements
    std::string first_beyond; ///< where and what the first of those is

    void add(const verification &other);
    void note(std::int64_t row, std::int64_t column, const char *what, double found, double expected);
};

/// Compares elements with what they should be.
class verifier {
public:
    verifier(const normalize_options &options, const job_shape &shape);

    /// One element of row `row`: y against the exact norm of x.
    void check(verification &result, const exact_norm &exact, std::int64_t row, std::int64_t column, double x,
               const double *weight, const double *bias, double y) const;

    /// Whether the sum that was written is x + residual, rounded to the residual's type.
    void check_sum(verification &result, std::int64_t row, std::int64_t column, double x, double residual,
                   double sum) const;

    /// What largest_ulp may be.
    double bound_ulp() const;

private:
    struct interval {
        long double low, high;
    };
    interval allowed(long double t, long double w, long double b) const;
    bool is_right(long double t, double w, double b, long double should, double y) const;

    const job_shape shape_;
    const bool is_f64_, is_layer_;
    const rownorm_round round_;
    const rownorm_type arithmetic_; ///< f64 for f64 rows, else f32
    const double offset_;
    const double proven_ulp_;
};

} // namespace command
