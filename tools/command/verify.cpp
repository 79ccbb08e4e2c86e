// SPDX-License-Identifier: Apache-2.0
#include "verify.hpp"

#include "convert.hpp"
#include "element.hpp"
#include "failure.hpp"

#include <algorithm>
#include <array>
#include <bit>
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

/// One unit in the last place of numbers of that magnitude: a power of two from the exponent's bits.
double ulp(double magnitude, rownorm_type type) {
    const format f = format_of(type);
    const int exponent = int(std::bit_cast<std::uint64_t>(magnitude) >> 52 & 0x7ff) - 1023;
    const int unit = std::max(exponent, f.least) - (f.precision - 1);
    return unit >= -1022 ? std::bit_cast<double>(std::uint64_t(unit + 1023) << 52) : std::ldexp(1.0, unit);
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
    : shape_(shape), is_f64_(shape.x == ROWNORM_F64), is_layer_(options.op == ROWNORM_LAYER_NORM),
      round_(rounding(options, shape.y)), arithmetic_(is_f64_ ? ROWNORM_F64 : ROWNORM_F32),
      offset_(is_f64_ ? options.weight_offset : double(float(options.weight_offset))),
      // Sums of chunks of 1,024 are added in f64, which for f64 rows is no wider than the elements.
      proven_ulp_(proven_f32_ulp + (is_f64_ ? double(shape.n) / 2048 : 0)) {}

double verifier::bound_ulp() const {
    const int narrower = format_of(arithmetic_).precision - format_of(shape_.y).precision;
    const double computed = proven_ulp_ + (is_layer_ ? double(measured_layer_term) / 2 : 0);
    if (narrower == 0)
        return computed;
    // Half an ulp by rounding y, and up to a whole one where t was rounded before.
    return (round_ == ROWNORM_ROUND_ONCE ? 0.5 : 1.5) + std::ldexp(computed, -narrower);
}

/// Where y may lie before it is rounded to its type.
verifier::interval verifier::allowed(long double t, long double w, long double b) const {
    const long double unit = is_f64_ ? 0x1p-53L : 0x1p-24L;
    const long double tiny = (is_layer_ ? measured_layer_term * unit : 0.0L) + ulp(0, arithmetic_);
    const double magnitude = double(std::fabs(t * w) + std::fabs(b));
    if (round_ == ROWNORM_ROUND_ONCE) {
        const long double slack = proven_ulp_ * ulp(magnitude, arithmetic_) + std::fabs(w) * tiny;
        return {t * w + b - slack, t * w + b + slack};
    }
    // t may have been rounded to a neighbour; rounding keeps the order, so the ends of the interval do.
    const rownorm_type type = round_ == ROWNORM_ROUND_TO_F16 ? ROWNORM_F16 : ROWNORM_BF16;
    const long double slack = proven_ulp_ * ulp(double(t), arithmetic_) + tiny;
    const long double one = rounded_to(type, t - slack) * w + b, other = rounded_to(type, t + slack) * w + b;
    const long double last = ulp(magnitude, arithmetic_);
    return {std::min(one, other) - last, std::max(one, other) + last};
}

bool verifier::is_right(long double t, double w, double b, long double should, double y) const {
    if (!std::isfinite(should))
        return std::isnan(should) ? std::isnan(y) : should == static_cast<long double>(y);
    const interval i = allowed(t, w, b);
    return rounded_to(shape_.y, i.low) <= y && y <= rounded_to(shape_.y, i.high);
}

void verifier::check(verification &result, const exact_norm &exact, std::int64_t row, std::int64_t column, double x,
                     const double *weight, const double *bias, double y) const {
    ++result.checked;
    const long double t = exact.normalised(x);
    const double w = weight == nullptr ? 1 : is_f64_ ? *weight + offset_ : double(float(*weight) + float(offset_));
    const double b = bias == nullptr ? 0 : *bias;
    const long double should = t * static_cast<long double>(w) + static_cast<long double>(b);
    const double error = std::fabs(double(static_cast<long double>(y) - should)); // NaN if either is not finite
    const double size = std::fabs(double(t));
    const double magnitude = (is_layer_ ? std::max(size, 1.0) : size) * std::fabs(w) + std::fabs(b);
    if (const double in_ulp = error / ulp(magnitude, shape_.y); in_ulp > result.largest_ulp && std::isfinite(in_ulp))
        result.largest_ulp = in_ulp;
    // The nearest number is right in any case; else the bound is asked.
    if (!(error <= 0.499 * ulp(double(should), shape_.y)) && !is_right(t, w, b, should, y))
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
