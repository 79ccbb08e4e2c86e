// SPDX-License-Identifier: Apache-2.0
//
// What the corrected two-pass promises: constant rows give exactly 0, rows far from zero keep their
// digits, and pad lanes never count.
#include "formats.hpp"
#include "random.hpp"
#include "reference.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace rownorm_test;

namespace {

Case layer(std::int64_t n, double eps, const Mix &mix = {}) {
    Case c;
    c.op = ROWNORM_LAYER_NORM;
    c.mix = mix;
    c.n = n;
    c.eps = eps;
    return c;
}

/// A row without a gain on every ISA; the values of the first.
std::vector<long double> normalised(const Case &c, const std::vector<long double> &x) {
    const Inputs in{elements(c.mix.x, x), {}, {}, {}};
    return values_of(c.mix.y, check(c, in).outputs.y);
}

long double largest_error(const Case &c, const std::vector<long double> &x) {
    const std::vector<long double> y = normalised(c, x);
    const ReferenceRow exact = reference_row(c, elements(c.mix.x, x).data(), nullptr);
    long double error = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
        error = std::max(error, std::fabs(y[i] - exact.t[i]));
    return error;
}

bool all_zero(const std::vector<long double> &y) {
    return !y.empty() && std::all_of(y.begin(), y.end(), [](long double v) { return v == 0; });
}

std::vector<long double> constant_row(std::int64_t n, long double value) {
    return std::vector<long double>(static_cast<std::size_t>(n), value);
}

/// A mean of 1e4 and a standard deviation of 1.
std::vector<long double> distant_row(std::int64_t n, std::uint64_t seed) {
    Random random(seed);
    std::vector<long double> x;
    for (std::int64_t i = 0; i < n; ++i)
        x.push_back(round_to(ROWNORM_F32, 1e4L + static_cast<long double>(random.normal())));
    return x;
}

} // namespace

TEST_SUITE("LayerNorm") {
    TEST_CASE("constant rows give exactly 0, at every length") {
        constexpr long double values[] = {1, 0.1L, 1234, -1e4L, 3.3333L, 1e30L, 3e38L, 1e-30L, 1e-40L, 7e-46L, -65504};
        for (std::int64_t n = 1; n <= 130; ++n)
            for (const long double value : values)
                if (kept(static_cast<std::uint64_t>(n)))
                    CHECK(all_zero(normalised(layer(n, 1e-12), constant_row(n, value))));
        for (const std::int64_t n : {255, 257, 513, 1023, 1025, 3000, 4096, 5125, 65537})
            for (const long double value : values)
                CHECK(all_zero(normalised(layer(n, 1e-12), constant_row(n, value))));
    }

    TEST_CASE("constant rows give exactly 0 in every type") {
        for (const Mix &mix : main_mixes())
            for (const std::int64_t n : {1, 7, 10, 64, 257, 4096, 5000})
                for (const long double value : {0.1L, 3.5L, 100.0L, -1234.0L, 6e-8L, 60000.0L})
                    CHECK(all_zero(normalised(layer(n, 1e-8, mix), constant_row(n, value))));
    }

    TEST_CASE("a mean of 1e4 and a deviation of 1: right to 8e-7") {
        for (const std::int64_t n : {33, 64, 384, 768, 1024, 4096, 16384, 65536})
            for (int seed = 0; seed < scaled(5); ++seed) {
                const auto error = largest_error(layer(n, 1e-5), distant_row(n, static_cast<std::uint64_t>(seed)));
                CAPTURE(n);
                CAPTURE(seed);
                CHECK(static_cast<double>(error) < 8e-7);
            }
    }

    TEST_CASE("two neighbouring numbers and eps 0: -1 and 1 to 2e-7") {
        for (const float value : {1.0F, 1e4F, 0.3F, -77.7F, 1e-20F, 2e30F})
            for (const std::int64_t n : {2, 6, 64, 130, 1024, 5000}) {
                std::vector<long double> x = constant_row(n, static_cast<long double>(value));
                const auto next = static_cast<long double>(std::nextafter(value, 2 * value));
                for (std::size_t i = 0; i < x.size(); i += 2)
                    x[i] = next;
                CAPTURE(value);
                CAPTURE(n);
                CHECK(static_cast<double>(largest_error(layer(n, 0), x)) < 2e-7);
            }
    }

    TEST_CASE("what lies behind the row never counts, at every length") {
        // Values near 50: a pad lane of zero would add 2,500 to the sum of squares.
        for (std::int64_t n = 1; n <= 130; ++n) {
            Case c = layer(n, 1e-5);
            c.rows = 3;
            Inputs in = make_inputs(c);
            Random random(static_cast<std::uint64_t>(n));
            std::vector<long double> x;
            for (std::int64_t i = 0; i < c.rows * n; ++i)
                x.push_back(50 + static_cast<long double>(random.uniform()));
            in.x = elements(ROWNORM_F32, x);
            check(c, in);
        }
    }

    TEST_CASE("a row of one element is its bias, for any gain") {
        for (const Mix &mix : main_mixes())
            for (const long double value : {-3.0L, 0.0L, 1e4L}) {
                Case c = layer(1, 0.1, mix);
                c.gain = c.bias = true;
                const long double gain = mix.weight == ROWNORM_F16 ? 60000.0L : 1e10L;
                const Inputs in{elements(mix.x, {value}), {}, elements(mix.weight, {gain}), elements(mix.weight, {-1})};
                CHECK(values_of(mix.y, check(c, in).outputs.y) == std::vector<long double>{-1});
            }
    }
}
