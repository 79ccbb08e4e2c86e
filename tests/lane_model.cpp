// SPDX-License-Identifier: Apache-2.0
#include "lane_model.hpp"

#include "formats.hpp"
#include "reference.hpp"

#include <cmath>

namespace rownorm_test {
namespace {

constexpr std::size_t chunk = 1024;

/// What the arithmetic of T does with a square: one rounding in f32, two in f64.
float add_square(float sum, float value) { return std::fma(value, value, sum); }
double add_square(double sum, double value) { return sum + value * value; }

template <class T, class Add>
double sum_in_lanes(const std::vector<T> &values, std::size_t count, std::size_t lanes, Add add) {
    double total = 0;
    for (std::size_t first = 0; first < count; first += chunk) {
        T lane[64] = {};
        for (std::size_t i = first; i < count && i < first + chunk; ++i)
            lane[(i - first) % lanes] = add(lane[(i - first) % lanes], values[i]);
        for (std::size_t half = lanes / 2; half > 0; half /= 2)
            for (std::size_t j = 0; j < half; ++j)
                lane[j] = lane[j] + lane[j + half];
        total += static_cast<double>(lane[0]);
    }
    return total;
}

/// A row in the arithmetic of T: float, double, or double as what a float row is redone in.
template <class T>
class Row {
public:
    Row(const Case &c, const std::vector<long double> &x) : c_(c), n_(static_cast<double>(c.n)) {
        for (const long double value : x)
            x_.push_back(static_cast<T>(value));
        eps_ = c.mix.x == ROWNORM_F64 ? c.eps : static_cast<double>(static_cast<float>(c.eps));
        lanes_ = c.mix.x == ROWNORM_F64 ? 32 : 64;
        if (c.op == ROWNORM_LAYER_NORM)
            normalise_about_mean();
        else
            normalise();
    }

    /// Whether the usual arithmetic holds the row.
    bool fits(double smallest_root_argument) const { return sums_finite_ && !(argument_ < smallest_root_argument); }

    std::vector<T> t;
    double mean = 0;
    T rstd = 0;

private:
    static constexpr auto plus = [](T sum, T value) { return sum + value; };
    static constexpr auto plus_square = [](T sum, T value) { return add_square(sum, value); };

    void normalise() {
        const auto k = static_cast<std::size_t>(statistic_length(c_));
        const double ss = sum_in_lanes(x_, k, lanes_, plus_square);
        sums_finite_ = std::isfinite(ss);
        rstd = static_cast<T>(c_.op == ROWNORM_RMS_NORM ? rms(ss, static_cast<double>(k)) : l2(ss));
        for (const T value : x_)
            t.push_back(value * rstd);
    }

    double rms(double ss, double k) {
        argument_ = ss / k + eps_;
        return 1 / std::sqrt(argument_);
    }

    double l2(double ss) {
        argument_ = ss;
        if (c_.l2_eps == ROWNORM_L2_EPS_INSIDE)
            argument_ = ss + eps_;
        if (c_.l2_eps == ROWNORM_L2_EPS_CLAMP && ss < eps_)
            argument_ = eps_;
        double d = std::sqrt(argument_);
        if (c_.l2_eps == ROWNORM_L2_EPS_MAX && d < eps_)
            d = eps_;
        if (c_.l2_eps == ROWNORM_L2_EPS_ADD)
            d += eps_;
        return 1 / d;
    }

    void normalise_about_mean() {
        const double sum = sum_in_lanes(x_, x_.size(), lanes_, plus);
        const T first_mean = static_cast<T>(sum / n_);
        std::vector<T> d;
        for (const T value : x_)
            d.push_back(value - first_mean);
        const double linear = sum_in_lanes(d, d.size(), 32, plus);
        const double squares = sum_in_lanes(d, d.size(), lanes_, plus_square);
        const double variance = (squares - linear * linear / n_) / n_;
        argument_ = (variance < 0 ? 0 : variance) + eps_;
        sums_finite_ = std::isfinite(sum) && std::isfinite(linear) && std::isfinite(squares);
        rstd = static_cast<T>(1 / std::sqrt(argument_));
        mean = static_cast<double>(first_mean) + linear / n_;
        const T delta = static_cast<T>(linear / n_);
        for (const T value : d)
            t.push_back((value - delta) * rstd);
    }

    const Case &c_;
    double n_, eps_ = 0, argument_ = 0;
    std::size_t lanes_ = 64;
    bool sums_finite_ = true;
    std::vector<T> x_;
};

float with_bias(float t, float w, float b) { return std::fma(t, w, b); }
double with_bias(double t, double w, double b) { return t * w + b; }

class Model {
public:
    Model(const Case &c, const Inputs &in)
        : c_(c), w_(values_of(c.mix.weight, in.w)), b_(values_of(c.mix.weight, in.b)) {}

    void add_row(const std::vector<long double> &x) {
        if (c_.mix.x == ROWNORM_F64)
            return add(Row<double>(c_, x));
        const Row<float> row(c_, x);
        if (row.fits(0x1p-100))
            add(row);
        else
            add(Row<double>(c_, x));
    }

    Outputs outputs() const {
        const rownorm_type statistic = statistic_type(c_);
        return {elements(c_.mix.y, y_), {}, elements(statistic, mean_), elements(statistic, rstd_)};
    }

private:
    template <class T>
    void add(const Row<T> &row) {
        for (std::size_t i = 0; i < row.t.size(); ++i)
            y_.push_back(finish(row.t[i], i));
        rstd_.push_back(static_cast<long double>(row.rstd));
        if (c_.op == ROWNORM_LAYER_NORM)
            mean_.push_back(static_cast<long double>(row.mean));
    }

    /// From t to y, in f32 and rounded to it, or in f64 and only then rounded to f32 (but for f64 rows).
    template <class T>
    long double finish(T t, std::size_t i) const {
        if (c_.round != ROWNORM_ROUND_ONCE)
            t = static_cast<T>(round_to(c_.round == ROWNORM_ROUND_TO_F16 ? ROWNORM_F16 : ROWNORM_BF16,
                                        static_cast<long double>(static_cast<float>(t))));
        const T w = w_.empty() ? T(1) : static_cast<T>(offset_weight(c_, w_[i]));
        const T b = b_.empty() ? T(0) : static_cast<T>(b_[i]);
        if (!w_.empty())
            t = b_.empty() ? t * w : with_bias(t, w, b);
        else if (!b_.empty())
            t = t + b;
        if (c_.mix.x == ROWNORM_F64)
            return static_cast<long double>(t);
        return static_cast<long double>(static_cast<float>(t));
    }

    const Case &c_;
    std::vector<long double> w_, b_, y_, mean_, rstd_;
};

} // namespace

bool is_modelled(const Case &c) {
    const bool extreme = c.data == Data::tiny || c.data == Data::huge || c.data == Data::subnormal;
    const bool zero = c.data == Data::constant || c.data == Data::sparse; // LayerNorm's variance, or a row of zeros
    return !c.residual && !(c.mix.x == ROWNORM_F64 && (extreme || (zero && c.eps == 0)));
}

Outputs lane_model(const Case &c, const Inputs &in) {
    Model model(c, in);
    const std::vector<long double> x = values_of(c.mix.x, in.x);
    for (auto row = x.begin(); row != x.end(); row += c.n)
        model.add_row({row, row + c.n});
    return model.outputs();
}

} // namespace rownorm_test
