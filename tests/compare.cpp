// SPDX-License-Identifier: Apache-2.0
#include "compare.hpp"

#include "formats.hpp"
#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

namespace rownorm_test {
namespace {

/// Where a right result may lie. Rounding is monotone, so an interval survives it.
struct Interval {
    long double low, high;

    Interval widened(long double by) const { return {low - by, high + by}; }
    Interval rounded(rownorm_type type) const { return {round_to(type, low), round_to(type, high)}; }
    bool holds(long double value) const { return low <= value && value <= high; }
};

/// One element: its exact value and the interval of allowed ones.
struct Element {
    long double exact;
    long double magnitude; ///< |t*w'| + |b|
    long double weight;    ///< |w'|
    Interval allowed;
};

class Judge {
public:
    Judge(const Case &c, const Inputs &in) : c_(c), in_(in), arithmetic_(statistic_type(c)) {
        if (c.gain)
            for (const long double w : values_of(c.mix.weight, in.w))
                gain_.push_back(offset_weight(c, w));
        if (c.bias)
            bias_ = values_of(c.mix.weight, in.b);
    }

    Verdict judge(const Outputs &out) {
        for (std::int64_t row = 0; row < c_.rows && verdict_.fault.empty(); ++row)
            judge_row(static_cast<std::size_t>(row), out);
        return verdict_;
    }

private:
    void judge_row(std::size_t row, const Outputs &out) {
        const auto n = static_cast<std::size_t>(c_.n);
        const std::byte *residual = c_.residual ? in_.residual.data() + row * n * size_of(c_.mix.residual) : nullptr;
        const ReferenceRow reference = reference_row(c_, in_.x.data() + row * n * size_of(c_.mix.x), residual);
        judge_sum(row, reference, out);
        judge_statistics(row, reference, out);
        for (std::size_t i = 0; i < n && verdict_.fault.empty(); ++i) {
            const Element element = element_of(reference, i);
            const long double found = load(c_.mix.y, out.y.data() + (row * n + i) * size_of(c_.mix.y));
            if (!right(element.exact, element.allowed.rounded(c_.mix.y), found))
                fault("y", row, i, element.exact, found);
            note_error(element, found);
        }
    }

    Element element_of(const ReferenceRow &reference, std::size_t i) const {
        const long double t = reference.t[i];
        const long double w = gain_.empty() ? 1 : gain_[i], b = bias_.empty() ? 0 : bias_[i];
        const long double exact = (gain_.empty() ? t : t * w) + b;
        const long double magnitude = std::fabs(t * w) + std::fabs(b);
        if (!std::isfinite(exact))
            return {exact, magnitude, std::fabs(w), {exact, exact}};
        if (c_.round != ROWNORM_ROUND_ONCE)
            return {exact, magnitude, std::fabs(w), through_a_rounding(t, w, b)};
        const long double slack = proven_ulp * ulp(magnitude) + std::fabs(w) * absolute_term();
        return {exact, magnitude, std::fabs(w), Interval{exact, exact}.widened(slack)};
    }

    /// t is rounded first: every value near t that the rounding can give, times the gain.
    Interval through_a_rounding(long double t, long double w, long double b) const {
        const rownorm_type type = c_.round == ROWNORM_ROUND_TO_F16 ? ROWNORM_F16 : ROWNORM_BF16;
        const long double slack = (proven_ulp - 1) * ulp(t) + absolute_term();
        const Interval near = Interval{t, t}.widened(slack).rounded(type);
        const long double one = near.low * w + b, other = near.high * w + b;
        const Interval all{std::min(one, other), std::max(one, other)};
        return all.widened(ulp(std::fabs(t * w) + std::fabs(b)));
    }

    /// What is allowed in t itself beside relative errors: the underflow of t, and the measured term.
    long double absolute_term() const {
        return (c_.op == ROWNORM_LAYER_NORM ? measured_layer_term * unit() : 0) + ulp(0);
    }

    void judge_sum(std::size_t row, const ReferenceRow &reference, const Outputs &out) {
        if (out.residual_out.empty())
            return;
        const std::size_t size = size_of(c_.mix.residual);
        for (std::size_t i = 0; i < reference.s.size() && verdict_.fault.empty(); ++i) {
            const std::byte *at = out.residual_out.data() + (row * reference.s.size() + i) * size;
            std::uint64_t expected = 0;
            store(c_.mix.residual, &expected, reference.s[i]);
            if (canonical_bits(c_.mix.residual, &expected) != canonical_bits(c_.mix.residual, at))
                fault("residual_out", row, i, reference.s[i], load(c_.mix.residual, at));
        }
    }

    void judge_statistics(std::size_t row, const ReferenceRow &reference, const Outputs &out) {
        const std::size_t at = row * size_of(arithmetic_);
        if (!out.rstd.empty())
            judge_statistic("rstd", row, reference.rstd, 11 * ulp(reference.rstd), load(arithmetic_, &out.rstd[at]));
        if (!out.mean.empty())
            judge_statistic("mean", row, reference.mean,
                            ulp(reference.mean) + measured_layer_term * unit() * reference.std,
                            load(arithmetic_, &out.mean[at]));
    }

    void judge_statistic(const char *what, std::size_t row, long double exact, long double slack, long double found) {
        const Interval allowed = std::isfinite(exact) ? Interval{exact, exact}.widened(slack) : Interval{exact, exact};
        if (verdict_.fault.empty() && !right(exact, allowed.rounded(arithmetic_), found))
            fault(what, row, 0, exact, found);
    }

    static bool right(long double exact, const Interval &allowed, long double found) {
        return std::isnan(exact) ? std::isnan(found) : allowed.holds(found);
    }

    void note_error(const Element &element, long double found) {
        if (!std::isfinite(element.exact) || !std::isfinite(found) || element.magnitude == 0)
            return;
        const long double error = std::fabs(found - element.exact);
        verdict_.worst_ulp = std::max(verdict_.worst_ulp, static_cast<double>(error / ulp(element.magnitude)));
        const long double beyond = error - proven_ulp * ulp(element.magnitude);
        if (beyond > 0)
            verdict_.worst_term =
                std::max(verdict_.worst_term, static_cast<double>(beyond / (element.weight * unit())));
    }

    long double ulp(long double value) const { return ulp_at(arithmetic_, value); }
    long double unit() const { return std::ldexp(1.0L, arithmetic_ == ROWNORM_F64 ? -53 : -24); }

    void fault(const char *what, std::size_t row, std::size_t i, long double exact, long double found) {
        std::ostringstream text;
        text.precision(12);
        text << what << "[" << row << "][" << i << "] is " << found << ", exact " << exact;
        verdict_.fault = text.str();
    }

    const Case &c_;
    const Inputs &in_;
    rownorm_type arithmetic_;
    std::vector<long double> gain_, bias_;
    Verdict verdict_;
};

} // namespace

rownorm_type statistic_type(const Case &c) { return c.mix.x == ROWNORM_F64 ? ROWNORM_F64 : ROWNORM_F32; }

Verdict compare_to_reference(const Case &c, const Inputs &in, const Outputs &out) { return Judge(c, in).judge(out); }

std::string difference(rownorm_type type, const std::vector<std::byte> &expected, const std::vector<std::byte> &found,
                       const char *what) {
    std::ostringstream text;
    text.precision(12);
    if (expected.size() != found.size()) {
        text << what << ": " << found.size() << " bytes, expected " << expected.size();
        return text.str();
    }
    if (expected.empty() || std::memcmp(expected.data(), found.data(), expected.size()) == 0)
        return {};
    for (std::size_t at = 0; at < expected.size(); at += size_of(type))
        if (canonical_bits(type, &expected[at]) != canonical_bits(type, &found[at])) {
            text << what << ": element " << at / size_of(type) << " is " << load(type, &found[at]) << " (0x" << std::hex
                 << canonical_bits(type, &found[at]) << "), expected " << load(type, &expected[at]) << " (0x"
                 << canonical_bits(type, &expected[at]) << ")";
            return text.str();
        }
    return {};
}

std::string difference(const Case &c, const Outputs &expected, const Outputs &found) {
    const rownorm_type statistic = statistic_type(c);
    std::string text = difference(c.mix.y, expected.y, found.y, "y");
    if (text.empty())
        text = difference(c.mix.residual, expected.residual_out, found.residual_out, "residual_out");
    if (text.empty())
        text = difference(statistic, expected.mean, found.mean, "mean");
    return text.empty() ? difference(statistic, expected.rstd, found.rstd, "rstd") : text;
}

} // namespace rownorm_test
