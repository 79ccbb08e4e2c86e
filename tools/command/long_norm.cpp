// SPDX-License-Identifier: Apache-2.0
#include "long_norm.hpp"

#include "convert.hpp"

#include <array>
#include <cmath>

namespace command {

namespace {

/// The sum over one chunk: element i joins lane i mod `lanes`, then lane j takes in lane j + lanes/2, + lanes/4, ...
template <class T, std::size_t lanes, class Step>
double chunk_sum(std::span<const double> chunk, Step step) {
    std::array<T, lanes> lane{};
    for (std::size_t i = 0; i < chunk.size(); ++i)
        lane[i % lanes] = step(lane[i % lanes], static_cast<T>(chunk[i]));
    for (std::size_t half = lanes / 2; half > 0; half /= 2)
        for (std::size_t j = 0; j < half; ++j)
            lane[j] += lane[j + half];
    return double(lane[0]);
}

/// A square is fused in f32 and never in f64.
float add_square(float sum, float v) { return std::fma(v, v, sum); }
double add_square(double sum, double v) { return sum + v * v; }

template <class T>
double sum_of(std::span<const double> chunk) {
    return chunk_sum < T, sizeof(T) == 4 ? 64 : 32 > (chunk, [](T sum, T v) { return sum + v; });
}
template <class T>
double squares_of(std::span<const double> chunk) {
    return chunk_sum < T, sizeof(T) == 4 ? 64 : 32 > (chunk, [](T sum, T v) { return add_square(sum, v); });
}

int exponent_of(double v) { return v == 0 ? -1074 : std::ilogb(v); }

double as_f32(double v) { return double(float(v)); }

} // namespace

long_norm::long_norm(const normalize_options &options, const job_shape &shape)
    : op_(options.op), l2_eps_(options.l2_eps), round_(rounding(options, shape.y)), is_f64_(shape.x == ROWNORM_F64),
      n_(shape.n), k_(elements_in_statistic(options, shape.n)), eps_(is_f64_ ? options.eps : as_f32(options.eps)),
      offset_(is_f64_ ? options.weight_offset : as_f32(options.weight_offset)) {
    if (offset_ == 0)
        offset_ = -0.0; // leaves a weight of -0 as it is
}

void long_norm::measure(const pass_over_row &pass) {
    way_ = is_f64_ ? way::f64 : way::f32;
    x_exponent_ = d_exponent_ = 0;
    mean_ = mean_error_ = delta_ = 0;
    op_ == ROWNORM_LAYER_NORM ? measure_variance(pass) : measure_squares(pass);
}

/// Else digits were lost, or everything.
bool long_norm::fits(double sum) const {
    return std::isfinite(sum) && !(root_argument_ < (is_f64_ ? 0x1p-900 : 0x1p-100));
}

void long_norm::measure_squares(const pass_over_row &pass) {
    double sum = 0;
    pass(k_, [&](std::span<const double> c) { sum += is_f64_ ? squares_of<double>(c) : squares_of<float>(c); });
    factor_ = factor_of_squares(sum, eps_, eps_);
    if (!is_f64_)
        factor_ = as_f32(factor_);
    if (!fits(sum))
        is_f64_ ? rescale(pass) : redo_squares(pass);
}

void long_norm::measure_variance(const pass_over_row &pass) {
    double total = 0, sum = 0, squares = 0;
    pass(n_, [&](std::span<const double> c) { total += is_f64_ ? sum_of<double>(c) : sum_of<float>(c); });
    mean_ = is_f64_ ? total / double(n_) : as_f32(total / double(n_));
    pass(n_, [&](std::span<const double> c) {
        if (is_f64_) {
            sum += chunk_sum<double, 32>(c, [&](double s, double v) { return s + (v - mean_); });
            squares += chunk_sum<double, 32>(c, [&](double s, double v) { return add_square(s, v - mean_); });
        } else {
            const auto mean = float(mean_);
            sum += chunk_sum<float, 32>(c, [&](float s, float v) { return s + (v - mean); });
            squares += chunk_sum<float, 64>(c, [&](float s, float v) { return add_square(s, v - mean); });
        }
    });
    factor_ = factor_of_variance(sum, squares, eps_);
    delta_ = sum / double(n_);
    if (!is_f64_) {
        factor_ = as_f32(factor_);
        delta_ = as_f32(delta_);
    }
    if (!fits(total) || !fits(sum) || !fits(squares))
        is_f64_ ? rescale(pass) : redo_variance(pass);
}

void long_norm::redo_squares(const pass_over_row &pass) {
    way_ = way::f64;
    double sum = 0;
    const auto square = [](double s, double v) { return add_square(s, v); };
    pass(k_, [&](std::span<const double> c) { sum += chunk_sum<double, 64>(c, square); });
    factor_ = factor_of_squares(sum, eps_, eps_);
}

void long_norm::redo_variance(const pass_over_row &pass) {
    way_ = way::f64;
    double total = 0, sum = 0, squares = 0;
    pass(n_, [&](std::span<const double> c) {
        total += chunk_sum<double, 64>(c, [](double s, double v) { return s + v; });
    });
    mean_ = total / double(n_);
    pass(n_, [&](std::span<const double> c) {
        sum += chunk_sum<double, 32>(c, [&](double s, double v) { return s + (v - mean_); });
        squares += chunk_sum<double, 64>(c, [&](double s, double v) { return add_square(s, v - mean_); });
    });
    factor_ = factor_of_variance(sum, squares, eps_);
    delta_ = sum / double(n_);
}

/// f64 rows are scaled by a power of two, if all elements that the statistic is of are finite; else the formula's
/// result stands.
void long_norm::rescale(const pass_over_row &pass) {
    double largest = 0;
    bool finite = true;
    pass(k_, [&](std::span<const double> c) {
        for (const double v : c) {
            finite = finite && std::isfinite(v);
            largest = std::fabs(v) > largest ? std::fabs(v) : largest;
        }
    });
    if (finite)
        op_ == ROWNORM_LAYER_NORM ? rescale_variance(pass, largest) : rescale_squares(pass, largest);
}

void long_norm::rescale_squares(const pass_over_row &pass, double largest) {
    const bool outside = op_ == ROWNORM_L2_NORM && (l2_eps_ == ROWNORM_L2_EPS_MAX || l2_eps_ == ROWNORM_L2_EPS_ADD);
    const int e = std::max(exponent_of(largest), exponent_of(outside ? eps_ : std::sqrt(eps_)));
    double sum = 0;
    const auto square = [&](double s, double v) { return add_square(s, std::ldexp(v, -e)); };
    pass(k_, [&](std::span<const double> c) { sum += chunk_sum<double, 32>(c, square); });
    factor_ = factor_of_squares(sum, std::ldexp(eps_, -2 * e), std::ldexp(eps_, -e));
    // x itself where the factor allows it: scaled, an x far below the largest one would lose digits.
    if (const double whole = std::ldexp(factor_, -e); std::isnormal(whole))
        factor_ = whole;
    else
        x_exponent_ = e;
}

void long_norm::rescale_variance(const pass_over_row &pass, double largest) {
    x_exponent_ = exponent_of(largest);
    const auto x = [&](double v) { return std::ldexp(v, -x_exponent_); };
    double total = 0, error = 0, spread = 0, sum = 0, squares = 0;
    pass(n_, [&](std::span<const double> c) {
        total += chunk_sum<double, 32>(c, [&](double s, double v) { return s + x(v); });
    });
    mean_ = total / double(n_);
    // The mean is rounded: of a constant row its error is all that x - mean holds.
    pass(n_, [&](std::span<const double> c) {
        error += chunk_sum<double, 32>(c, [&](double s, double v) { return s + (x(v) - mean_); });
    });
    mean_error_ = error / double(n_);
    const auto centred = [&](double v) { return (x(v) - mean_) - mean_error_; };
    pass(n_, [&](std::span<const double> c) {
        for (const double v : c)
            spread = std::max(spread, std::fabs(centred(v)));
    });
    d_exponent_ = std::max(exponent_of(spread), exponent_of(std::ldexp(std::sqrt(eps_), -x_exponent_)));
    const auto d = [&](double v) { return std::ldexp(centred(v), -d_exponent_); };
    pass(n_, [&](std::span<const double> c) {
        sum += chunk_sum<double, 32>(c, [&](double s, double v) { return s + d(v); });
        squares += chunk_sum<double, 32>(c, [&](double s, double v) { return add_square(s, d(v)); });
    });
    factor_ = factor_of_variance(sum, squares, std::ldexp(eps_, -2 * (x_exponent_ + d_exponent_)));
    delta_ = sum / double(n_);
}

/// `outer_eps` is eps in the unit of x, `eps` in that of its square. Each max keeps a NaN.
double long_norm::factor_of_squares(double sum, double eps, double outer_eps) {
    root_argument_ = sum;
    if (op_ == ROWNORM_RMS_NORM)
        root_argument_ = sum / double(k_) + eps;
    else if (l2_eps_ == ROWNORM_L2_EPS_INSIDE)
        root_argument_ = sum + eps;
    else if (l2_eps_ == ROWNORM_L2_EPS_CLAMP)
        root_argument_ = sum < eps ? eps : sum;
    const double root = std::sqrt(root_argument_);
    if (op_ == ROWNORM_L2_NORM && l2_eps_ == ROWNORM_L2_EPS_ADD)
        return 1 / (root + outer_eps);
    if (op_ == ROWNORM_L2_NORM && l2_eps_ == ROWNORM_L2_EPS_MAX)
        return 1 / (root < outer_eps ? outer_eps : root);
    return 1 / root;
}

double long_norm::factor_of_variance(double sum, double squares, double eps) {
    const double variance = (squares - sum * sum / double(n_)) / double(n_);
    root_argument_ = (variance < 0 ? 0 : variance) + eps;
    return 1 / std::sqrt(root_argument_);
}

double long_norm::rounded(double t) const {
    if (round_ == ROWNORM_ROUND_ONCE)
        return t;
    const rownorm_type type = round_ == ROWNORM_ROUND_TO_F16 ? ROWNORM_F16 : ROWNORM_BF16;
    std::array<std::byte, 2> element{};
    store_value(element.data(), type, as_f32(t));
    return load_value(element.data(), type);
}

double long_norm::apply(double x, const double *weight, const double *bias) const {
    return way_ == way::f32 ? apply_f32(x, weight, bias) : apply_f64(x, weight, bias);
}

double long_norm::apply_f32(double x, const double *weight, const double *bias) const {
    const float v = float(x), factor = float(factor_);
    float t = op_ == ROWNORM_LAYER_NORM ? ((v - float(mean_)) - float(delta_)) * factor : v * factor;
    t = float(rounded(double(t)));
    if (weight == nullptr)
        return double(bias != nullptr ? t + float(*bias) : t);
    const float gain = float(*weight) + float(offset_);
    return double(bias != nullptr ? std::fma(t, gain, float(*bias)) : t * gain);
}

double long_norm::apply_f64(double x, const double *weight, const double *bias) const {
    const double v = std::ldexp((std::ldexp(x, -x_exponent_) - mean_) - mean_error_, -d_exponent_);
    double t = rounded((v - delta_) * factor_);
    if (weight != nullptr)
        t = t * (is_f64_ ? *weight + offset_ : double(float(*weight) + float(offset_)));
    if (bias != nullptr)
        t = t + *bias;
    return is_f64_ ? t : as_f32(t);
}

} // namespace command
