// SPDX-License-Identifier: Apache-2.0
#include "verify.hpp"

#include "convert.hpp"
#include "element.hpp"
#include "failure.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace command {

namespace {

/// Proven for RMSNorm and L2Norm in f32; the term of LayerNorm is measured (README, numerics).
constexpr double proven_f32_ulp = 12;
constexpr long double measured_layer_term = 10;

struct format {
    int precision; ///< bits of the significand
    int least;     ///< exponent of the least normal number
};

format format_of(rownorm_type type) {
    switch (type) {
    case ROWNORM_F16:
        return {11, -14};
    case ROWNORM_BF16:
        return {8, -126};
    case ROWNORM_F64:
        return {53, -1022};
    default:
        return {24, -126};
    }
}

long double ulp(long double magnitude, rownorm_type type) {
    const format f = format_of(type);
    const int exponent = magnitude > 0 && std::isfinite(magnitude) ? std::max(std::ilogb(magnitude), f.least) : f.least;
    return std::ldexp(1.0L, exponent - (f.precision - 1));
}

double rounded_to(rownorm_type type, long double value) {
    std::array<std::byte, 8> element{};
    if (type == ROWNORM_F32) { // at once, not through f64
        const auto v = static_cast<float>(value);
        return double(v);
    }
    store_value(element.data(), type, double(value));
    return load_value(element.data(), type);
}

} // namespace

exact_norm::exact_norm(const normalize_options &options, const job_shape &shape)
    : op_(options.op), l2_eps_(options.l2_eps), n_(shape.n), k_(elements_in_statistic(options, shape.n)),
      eps_(shape.x == ROWNORM_F64 ? options.eps : double(float(options.eps))) {}

void exact_norm::measure(const pass_over_row &pass) {
    mean_ = 0;
    long double sum = 0, squares = 0;
    if (op_ == ROWNORM_LAYER_NORM) {
        pass(n_, [&](std::span<const double> c) {
            for (const double v : c)
                sum += static_cast<long double>(v);
        });
        mean_ = sum / static_cast<long double>(n_);
    }
    pass(k_, [&](std::span<const double> c) {
        for (const double v : c) {
            const long double d = static_cast<long double>(v) - mean_;
            squares += d * d;
        }
    });
    factor_ = factor_of(squares);
}

long double exact_norm::factor_of(long double squares) const {
    if (op_ != ROWNORM_L2_NORM)
        return 1 / std::sqrt(squares / static_cast<long double>(k_) + eps_);
    const long double root = std::sqrt(squares);
    switch (l2_eps_) {
    case ROWNORM_L2_EPS_ADD:
        return 1 / (root + eps_);
    case ROWNORM_L2_EPS_INSIDE:
        return 1 / std::sqrt(squares + eps_);
    case ROWNORM_L2_EPS_CLAMP:
        return 1 / std::sqrt(squares < eps_ ? eps_ : squares);
    default:
        return 1 / (root < eps_ ? eps_ : root);
    }
}

void verification::add(const verification &other) {
    largest_ulp = std::max(largest_ulp, other.largest_ulp);
    if (first_beyond.empty())
        first_beyond = other.first_beyond;
    beyond += other.beyond;
    checked += other.checked;
}

void verification::note(std::int64_t row, std::int64_t column, const char *what, double found, double expected) {
    ++beyond;
    if (first_beyond.empty())
        first_beyond =
            fmt::format("row {}, element {}: {}{:.9g} found; expected {:.9g}", row, column, what, found, expected);
}

verifier::verifier(const normalize_options &options, const job_shape &shape)
    : options_(options), shape_(shape), is_f64_(shape.x == ROWNORM_F64), round_(rounding(options, shape.y)),
      offset_(is_f64_ ? options.weight_offset : double(float(options.weight_offset))),
      // Sums of chunks of 1,024 are added in f64, which for f64 rows is no wider than the elements.
      proven_ulp_(proven_f32_ulp + (is_f64_ ? double(shape.n) / 2048 : 0)) {}

double verifier::bound_ulp() const {
    const format y = format_of(shape_.y), arithmetic = format_of(is_f64_ ? ROWNORM_F64 : ROWNORM_F32);
    const double narrowed = std::ldexp(proven_ulp_, y.precision - arithmetic.precision);
    return y.precision == arithmetic.precision ? proven_ulp_ : 0.5 + narrowed;
}

long double verifier::ulp_of_arithmetic(long double magnitude) const {
    return ulp(magnitude, is_f64_ ? ROWNORM_F64 : ROWNORM_F32);
}

/// Where y may lie before it is rounded to its type.
verifier::interval verifier::allowed(long double t, long double w, long double b) const {
    const long double unit = is_f64_ ? 0x1p-53L : 0x1p-24L;
    const long double tiny =
        (options_.op == ROWNORM_LAYER_NORM ? measured_layer_term * unit : 0.0L) + ulp_of_arithmetic(0);
    const long double magnitude = std::fabs(t * w) + std::fabs(b);
    if (round_ == ROWNORM_ROUND_ONCE) {
        const long double slack = proven_ulp_ * ulp_of_arithmetic(magnitude) + std::fabs(w) * tiny;
        return {t * w + b - slack, t * w + b + slack};
    }
    // t may have been rounded to a neighbour; rounding keeps the order, so the ends of the interval do.
    const rownorm_type type = round_ == ROWNORM_ROUND_TO_F16 ? ROWNORM_F16 : ROWNORM_BF16;
    const long double slack = proven_ulp_ * ulp_of_arithmetic(t) + tiny;
    const long double one = rounded_to(type, t - slack) * w + b, other = rounded_to(type, t + slack) * w + b;
    const long double last = ulp_of_arithmetic(magnitude);
    return {std::min(one, other) - last, std::max(one, other) + last};
}

void verifier::check(verification &result, const exact_norm &exact, std::int64_t row, std::int64_t column, double x,
                     const double *weight, const double *bias, double y) const {
    ++result.checked;
    const long double t = exact.normalised(x);
    const double w = weight == nullptr ? 1 : is_f64_ ? *weight + offset_ : double(float(*weight) + float(offset_));
    const double b = bias == nullptr ? 0 : *bias;
    const long double should = t * static_cast<long double>(w) + static_cast<long double>(b);
    bool right = std::isnan(should) ? std::isnan(y) : should == static_cast<long double>(y);
    if (!right && std::isfinite(should)) {
        const interval i = allowed(t, w, b);
        right = rounded_to(shape_.y, i.low) <= y && y <= rounded_to(shape_.y, i.high);
        if (std::isfinite(y)) {
            const long double magnitude = std::fabs(t * static_cast<long double>(w)) + std::fabs(b);
            const long double error = std::fabs(static_cast<long double>(y) - should) / ulp(magnitude, shape_.y);
            result.largest_ulp = std::max(result.largest_ulp, double(error));
        }
    }
    if (!right)
        result.note(row, column, "", y, double(should));
}

void verifier::check_sum(verification &result, std::int64_t row, std::int64_t column, double x, double residual,
                         double sum) const {
    const double exact = is_f64_ ? x + residual : double(float(x) + float(residual));
    const double expected = rounded_to(shape_.residual, exact);
    if (sum != expected && !(std::isnan(sum) && std::isnan(expected)))
        result.note(row, column, "x + residual ", sum, expected);
}

} // namespace command
