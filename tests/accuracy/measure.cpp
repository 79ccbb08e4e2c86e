// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include "arguments.hpp"
#include "formats.hpp"
#include "reference.hpp"
#include "run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rownorm_test {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// y, or nothing if the call failed.
std::vector<long double> results(const Case &c, const Inputs &in) {
    const Setup setup;
    Arguments arguments(c, in, setup);
    const rownorm_io io = arguments.io();
    const Plan plan(descriptor_of(c));
    if (plan.status() != ROWNORM_OK || rownorm_execute_part(plan, &io, 0, 1) != ROWNORM_OK)
        return {};
    return values_of(c.mix.y, arguments.outputs().y);
}

/// The gain and the bias, one and zero where the case has none.
struct Affine {
    std::vector<long double> w, b;

    Affine(const Case &c, const Inputs &in)
        : w(static_cast<std::size_t>(c.n), 1.0L), b(static_cast<std::size_t>(c.n), 0.0L) {
        if (c.gain)
            w = values_of(c.mix.weight, in.w);
        if (c.bias)
            b = values_of(c.mix.weight, in.b);
    }
};

double error_of(const Case &c, long double t, long double w, long double b, long double found) {
    const long double exact = t * w + b;
    if (!std::isfinite(exact))
        return 0; // what such rows give is tested elsewhere
    if (!std::isfinite(found))
        return unlimited;
    const long double term = c.op == ROWNORM_LAYER_NORM ? std::fabs(w) : 0;
    const long double ulp = ulp_at(statistic_type(c), std::fabs(t * w) + std::fabs(b) + term);
    return static_cast<double>(std::fabs(found - exact) / ulp);
}

} // namespace

double largest_error(const Case &c) {
    const Inputs in = make_inputs(c);
    const Affine affine(c, in);
    const std::vector<long double> y = results(c, in);
    if (y.empty())
        return unlimited;
    double largest = 0;
    const auto n = static_cast<std::size_t>(c.n);
    for (std::size_t row = 0; row < static_cast<std::size_t>(c.rows); ++row) {
        const ReferenceRow reference = reference_row(c, in.x.data() + row * n * size_of(c.mix.x), nullptr);
        for (std::size_t i = 0; i < n; ++i)
            largest = std::max(largest, error_of(c, reference.t[i], affine.w[i], affine.b[i], y[row * n + i]));
    }
    return largest;
}

} // namespace rownorm_test
