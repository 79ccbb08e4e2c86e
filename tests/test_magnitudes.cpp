// SPDX-License-Identifier: Apache-2.0
//
// Right whatever the magnitude: rows whose squares overflow or underflow, in f32 and in f64, next to
// ordinary ones.
#include "formats.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace rownorm_test;

namespace {

constexpr Mix f64_mix = all_of(ROWNORM_F64);
constexpr std::int64_t lengths[] = {1, 2, 17, 33, 64, 130, 257, 1024, 1500, 4096};

Case make(int formula, std::int64_t n, double eps, const Mix &mix = {}) {
    Case c;
    c.mix = mix;
    c.n = n;
    set_formula(c, formula);
    c.eps = eps;
    return c;
}

std::vector<long double> alternating(std::int64_t n, long double one, long double other) {
    std::vector<long double> x;
    for (std::int64_t i = 0; i < n; ++i)
        x.push_back(i % 2 == 0 ? one : other);
    return x;
}

std::vector<long double> check_row(const Case &c, const std::vector<long double> &x) {
    return values_of(c.mix.y, check(c, Inputs{elements(c.mix.x, x), {}, {}, {}}).outputs.y);
}

} // namespace

TEST_SUITE("magnitudes") {
    TEST_CASE("extreme kinds of rows, every formula, with and without gain, bias and residual") {
        std::uint64_t member = 0;
        for (const Data data : {Data::tiny, Data::huge, Data::subnormal, Data::massive, Data::lognormal})
            for (const Mix &mix : main_mixes())
                for (int formula = 0; formula < formulas; ++formula)
                    for (const std::int64_t n : lengths)
                        for (const double eps : {0.0, 1e-12, 1e-5}) {
                            Case c = make(formula, n, eps, mix);
                            c.data = data;
                            c.rows = 2;
                            c.seed = ++member;
                            c.gain = member % 2 == 0;
                            c.bias = member % 3 == 0;
                            c.residual = member % 5 == 0;
                            if (kept(member))
                                check(c);
                        }
    }

    TEST_CASE("the scale of a row does not matter without eps: all of one magnitude gives 1 and -1") {
        for (const int exponent : {-149, -140, -126, -110, -64, -50, -49, 0, 63, 64, 100, 127})
            for (const std::int64_t n : lengths) {
                const long double value = std::ldexp(1.0L, exponent);
                CAPTURE(exponent);
                CAPTURE(n);
                CHECK(check_row(make(0, n, 0), alternating(n, value, -value)) == alternating(n, 1, -1));
            }
    }

    TEST_CASE("the same for f64") {
        for (const int exponent : {-1074, -1030, -1022, -600, -512, -450, 0, 511, 512, 1000, 1023})
            for (const std::int64_t n : lengths) {
                const long double value = std::ldexp(1.0L, exponent);
                CAPTURE(exponent);
                CAPTURE(n);
                CHECK(check_row(make(0, n, 0, f64_mix), alternating(n, value, -value)) == alternating(n, 1, -1));
                if (n % 2 == 0)
                    CHECK(check_row(make(2, n, 0, f64_mix), alternating(n, value, -value)) == alternating(n, 1, -1));
            }
    }

    TEST_CASE("f64 rows scale eps with the row") {
        for (const double eps : {0.0, 1e-300, 1e-12, 1.0, 1e200, 1e308})
            for (const int exponent : {-1070, -700, -480, -300, 300, 500, 700, 1020})
                for (int formula = 0; formula < formulas; ++formula) {
                    const long double value = std::ldexp(1.25L, exponent);
                    for (const std::int64_t n : {2, 33, 1025})
                        check_row(make(formula, n, eps, f64_mix), alternating(n, value, -value / 3));
                }
    }

    TEST_CASE("LayerNorm of rows whose sum, mean difference or squares overflow") {
        constexpr long double top = 3e38L;
        for (const Mix &mix : {Mix{}, all_of(ROWNORM_BF16)})
            for (const std::int64_t n : {2, 4, 64, 130, 1026}) {
                CHECK(check_row(make(2, n, 1e-5, mix), alternating(n, top, -top)) == alternating(n, 1, -1));
                check_row(make(2, n, 1e-5, mix), alternating(n, 1e20L, 2e20L));
                check_row(make(2, n, 1e-5, mix), alternating(n, top, 1e38L));
            }
        const auto largest_f64 = largest(ROWNORM_F64);
        CHECK(check_row(make(2, 6, 0, f64_mix), alternating(6, largest_f64, -largest_f64)) == alternating(6, 1, -1));
    }

    TEST_CASE("a row that is redone leaves its neighbours alone") {
        Case c = make(0, 17, 1e-5);
        c.rows = 3;
        for (const long double extreme : {3e38L, 1e-30L, 1e-40L, 0.0L})
            for (const Mix &mix : {Mix{}, Mix{ROWNORM_BF16, ROWNORM_BF16, ROWNORM_F32, ROWNORM_BF16}}) {
                c.mix = mix;
                Inputs in = make_inputs(c);
                const std::vector<std::byte> before = check(c, in).outputs.y;
                const std::vector<std::byte> row = elements(mix.x, std::vector<long double>(17, extreme));
                std::copy(row.begin(), row.end(), in.x.begin() + static_cast<std::ptrdiff_t>(row.size()));
                const std::vector<std::byte> after = check(c, in).outputs.y;
                const std::size_t bytes = 17 * size_of(mix.y);
                CHECK(std::equal(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(bytes), after.begin()));
                CHECK(std::equal(before.end() - static_cast<std::ptrdiff_t>(bytes), before.end(),
                                 after.end() - static_cast<std::ptrdiff_t>(bytes)));
            }
    }

    TEST_CASE("small next to large: nothing is flushed that can be told") {
        const std::vector<long double> y = check_row(make(0, 8, 1e-5), {1e-30L, 1e30L, 0, 0, 0, 0, 0, 0});
        CHECK(static_cast<double>(y[1]) == doctest::Approx(std::sqrt(8.0)));
        const std::vector<long double> z = check_row(make(0, 8, 0), {1e-10L, 1e30L, 0, 0, 0, 0, 0, 0});
        CHECK(static_cast<double>(z[0]) == doctest::Approx(std::sqrt(8.0) * 1e-40).epsilon(1e-4));
    }

    TEST_CASE(
        "f64: elements that are subnormal once they are scaled, next to the largest there are, with a large gain") {
        for (const int formula : {0, 3}) // RMSNorm, L2Norm
            for (int exponent = -60; exponent <= 20; ++exponent)
                for (int i = 0; i < 20; ++i) {
                    Case c = make(formula, 10, 0, f64_mix);
                    c.gain = true;
                    std::vector<long double> x(10, 0), w(10, 1);
                    x[2] = 1.79e308L;
                    x[6] = std::ldexp(1 + static_cast<long double>(i) / 21, exponent);
                    w[6] = 1e289L;
                    check(c, {elements(ROWNORM_F64, x), {}, elements(ROWNORM_F64, w), {}});
                }
    }

    TEST_CASE("zero rows: 0 with an eps, NaN by the formula without") {
        for (const Mix &mix : main_mixes())
            for (int formula = 0; formula < formulas; ++formula)
                for (const std::int64_t n : {1, 10, 64, 129, 2000}) {
                    const std::vector<long double> zeros(static_cast<std::size_t>(n), 0);
                    CHECK(check_row(make(formula, n, 1e-12, mix), zeros) == zeros);
                    for (const long double value : check_row(make(formula, n, 0, mix), zeros))
                        CHECK(std::isnan(value));
                }
    }
}
