// SPDX-License-Identifier: Apache-2.0
#include "reference.hpp"

#include "formats.hpp"

#include <cmath>
#include <limits>

namespace rownorm_test {
namespace {

/// Neumaier's compensated sum. A sum that is not finite is left to the formula.
class Sum {
public:
    void add(long double value) {
        const long double next = total_ + value;
        if (std::isfinite(next))
            lost_ += std::fabs(total_) >= std::fabs(value) ? (total_ - next) + value : (value - next) + total_;
        total_ = next;
    }
    long double value() const { return std::isfinite(total_) ? total_ + lost_ : total_; }

private:
    long double total_ = 0, lost_ = 0;
};

long double eps_of(const Case &c) {
    return c.mix.x == ROWNORM_F64 ? static_cast<long double>(c.eps)
                                  : static_cast<long double>(static_cast<float>(c.eps));
}

long double sum_of(const std::vector<long double> &values, std::size_t count) {
    Sum sum;
    for (std::size_t i = 0; i < count; ++i)
        sum.add(values[i]);
    return sum.value();
}

long double sum_of_squares(const std::vector<long double> &values, std::size_t count) {
    Sum sum;
    for (std::size_t i = 0; i < count; ++i)
        sum.add(values[i] * values[i]);
    return sum.value();
}

/// Not std::max: NaN is never hidden.
long double larger(long double a, long double b) { return std::isnan(a) || a > b ? a : b; }

long double l2_divisor(const Case &c, long double ss) {
    const long double eps = eps_of(c);
    switch (c.l2_eps) {
    case ROWNORM_L2_EPS_MAX:
        return larger(std::sqrt(ss), eps);
    case ROWNORM_L2_EPS_ADD:
        return std::sqrt(ss) + eps;
    case ROWNORM_L2_EPS_INSIDE:
        return std::sqrt(ss + eps);
    default:
        return std::sqrt(larger(ss, eps));
    }
}

void read_row(const Case &c, const std::byte *x, const std::byte *residual, std::vector<long double> &s) {
    for (std::size_t i = 0; i < s.size(); ++i) {
        s[i] = load(c.mix.x, x + i * size_of(c.mix.x));
        if (residual == nullptr)
            continue;
        const long double other = load(c.mix.residual, residual + i * size_of(c.mix.residual));
        // The contract adds in the arithmetic's type and then rounds to the residual's.
        if (c.mix.x == ROWNORM_F64)
            s[i] = static_cast<long double>(static_cast<double>(s[i]) + static_cast<double>(other));
        else
            s[i] = round_to(c.mix.residual,
                            static_cast<long double>(static_cast<float>(s[i]) + static_cast<float>(other)));
    }
}

/// The factor that RMSNorm and L2Norm scale the whole row by.
long double scale_of(const Case &c, const std::vector<long double> &s) {
    if (c.op == ROWNORM_L2_NORM)
        return 1 / l2_divisor(c, sum_of_squares(s, s.size()));
    const std::int64_t k = statistic_length(c);
    const long double ss = sum_of_squares(s, static_cast<std::size_t>(k));
    return 1 / std::sqrt(ss / static_cast<long double>(k) + eps_of(c));
}

/// Replaces t by the centred row and returns its mean. The mean of an f64 row far from zero has more
/// digits than long double holds, so it is taken off in two steps.
long double centre(std::vector<long double> &t) {
    const auto n = static_cast<long double>(t.size());
    long double mean = 0;
    for (int step = 0; step < 2; ++step) {
        const long double part = sum_of(t, t.size()) / n;
        mean += part;
        for (long double &value : t)
            value -= part;
    }
    return mean;
}

} // namespace

std::int64_t statistic_length(const Case &c) {
    if (c.k != 0)
        return c.k;
    if (c.p == 0)
        return c.n;
    const long double share = static_cast<long double>(c.n) * static_cast<long double>(c.p);
    return static_cast<std::int64_t>(std::ceil(share * (1 - std::ldexp(1.0L, -40))));
}

long double offset_weight(const Case &c, long double w) {
    if (c.weight_offset == 0)
        return w; // a gain of -0 keeps its sign
    if (c.mix.weight == ROWNORM_F64)
        return static_cast<long double>(static_cast<double>(w) + c.weight_offset);
    return static_cast<long double>(static_cast<float>(w) + static_cast<float>(c.weight_offset));
}

ReferenceRow reference_row(const Case &c, const std::byte *x, const std::byte *residual) {
    ReferenceRow row;
    row.s.resize(static_cast<std::size_t>(c.n));
    read_row(c, x, residual, row.s);
    row.t = row.s;
    if (c.op == ROWNORM_LAYER_NORM) {
        row.mean = centre(row.t);
        const long double variance = sum_of_squares(row.t, row.t.size()) / static_cast<long double>(c.n);
        row.std = std::sqrt(variance);
        row.rstd = 1 / std::sqrt(variance + eps_of(c));
    } else {
        row.rstd = scale_of(c, row.s);
    }
    for (long double &value : row.t)
        value *= row.rstd;
    return row;
}

} // namespace rownorm_test
