// SPDX-License-Identifier: Apache-2.0
//
// What Zhang and Sennrich (2019, table 1) say of the norms: RMSNorm does not see a re-scaling of the
// weight matrix before it or of its input, but does see a re-centring; LayerNorm sees neither. Exact
// when the factor is a power of two. And what follows from the formulas: each norm as a case of another.
#include "formats.hpp"
#include "random.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace rownorm_test;

namespace {

using Row = std::vector<long double>;

Case plain(int formula, std::int64_t n, const Mix &mix = {}) {
    Case c;
    c.mix = mix;
    c.n = n;
    set_formula(c, formula);
    c.eps = 0;
    return c;
}

std::vector<std::byte> normalise(const Case &c, const Row &x) {
    return check(c, Inputs{elements(c.mix.x, x), {}, {}, {}}).outputs.y;
}

Row values(const Case &c, const Row &x) { return values_of(c.mix.y, normalise(c, x)); }

/// a = W v with small integers, so that every product and sum below is exact.
struct Layer {
    Layer(std::size_t outputs, std::size_t inputs, std::uint64_t seed) : matrix(outputs, Row(inputs)), v(inputs) {
        Random random(seed);
        const auto integer = [&] { return static_cast<long double>(random.below(17)) - 8; };
        for (Row &row : matrix)
            std::generate(row.begin(), row.end(), integer);
        std::generate(v.begin(), v.end(), [&] { return 1 + static_cast<long double>(random.below(8)); });
    }

    /// (scale * W + 1 shift^T) v
    Row output(long double scale, long double shift) const {
        Row a;
        for (const Row &row : matrix) {
            long double sum = 0;
            for (std::size_t i = 0; i < v.size(); ++i)
                sum += (scale * row[i] + shift) * v[i];
            a.push_back(sum);
        }
        return a;
    }

    std::vector<Row> matrix;
    Row v;
};

long double distance(const Row &a, const Row &b) {
    long double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, std::fabs(a[i] - b[i]));
    return largest;
}

Row scaled_row(const Row &x, long double by) {
    Row y = x;
    for (long double &value : y)
        value *= by;
    return y;
}

} // namespace

TEST_SUITE("invariances") {
    TEST_CASE("re-scaling of weights or input by a power of two: the same bits") {
        for (const Mix &mix : main_mixes())
            for (const std::size_t n : {1U, 5U, 64U, 100U, 384U, 1500U})
                for (int formula = 0; formula < formulas; ++formula) {
                    const Case c = plain(formula, static_cast<std::int64_t>(n), mix);
                    if (c.op == ROWNORM_LAYER_NORM && n == 1)
                        continue; // 0/0 without eps
                    const Layer layer(n, 6, n);
                    const Row y = values(c, layer.output(1, 0));
                    for (const long double factor : {2.0L, 0.25L, 32.0L, -4.0L}) {
                        // A negative factor turns the sign of every output.
                        const Row other = values(c, layer.output(factor, 0));
                        CAPTURE(n);
                        CAPTURE(formula);
                        CHECK((factor < 0 ? scaled_row(other, -1) : other) == y);
                    }
                }
    }

    TEST_CASE("re-scaling of rows far apart in magnitude: the same bits, into and out of the redone rows") {
        for (const std::int64_t n : {3, 64, 200, 1030})
            for (int formula = 0; formula < formulas; ++formula) {
                Case c = plain(formula, n);
                const Row x = values_of(ROWNORM_F32, make_inputs(c).x);
                const Row y = values(c, x);
                for (const int exponent : {-100, -60, 40, 90, 120})
                    CHECK(distance(values(c, scaled_row(x, std::ldexp(1.0L, exponent))), y) <=
                          12 * std::ldexp(1.0L, -22));
                for (const int exponent : {-30, -7, 1, 20})
                    CHECK(values(c, scaled_row(x, std::ldexp(1.0L, exponent))) == y);
            }
    }

    TEST_CASE("eps scales with the square of the row") {
        for (const std::int64_t n : {5, 64, 700})
            for (const int formula : {0, 1, 2, 5, 6}) {
                Case c = plain(formula, n);
                c.eps = 0.125;
                const Row x = values_of(ROWNORM_F32, make_inputs(c).x);
                const Row y = values(c, x);
                c.eps = 0.125 * 64;
                CHECK(values(c, scaled_row(x, 8)) == y);
            }
    }

    TEST_CASE("re-scaling by other factors: the same within the bound") {
        for (const std::size_t n : {5U, 64U, 384U})
            for (int formula = 0; formula < formulas; ++formula) {
                const Case c = plain(formula, static_cast<std::int64_t>(n));
                const Layer layer(n, 6, 3);
                const Row y = values(c, layer.output(1, 0));
                for (const long double factor : {3.0L, 7.0L, 1000.0L})
                    CHECK(distance(values(c, layer.output(factor, 0)), y) < 2 * 12 * std::ldexp(1.0L, -23) * 4);
            }
    }

    TEST_CASE("re-centring: nothing to LayerNorm, much to RMSNorm and L2Norm") {
        for (const Mix &mix : {Mix{}, all_of(ROWNORM_F64)})
            for (const std::size_t n : {5U, 64U, 100U, 384U, 1500U})
                for (const int formula : {0, 2, 3}) {
                    const Case c = plain(formula, static_cast<std::int64_t>(n), mix);
                    const Layer layer(n, 6, 4);
                    const Row y = values(c, layer.output(1, 0));
                    const long double moved = distance(values(c, layer.output(1, 5)), y);
                    CAPTURE(n);
                    if (c.op == ROWNORM_LAYER_NORM)
                        CHECK(moved < 1e-6L);
                    else
                        CHECK(moved > 0.01L);
                }
    }

    TEST_CASE("a row of mean zero: RMSNorm and LayerNorm give the same bits") {
        for (const Mix &mix : main_mixes())
            for (const std::int64_t n : {2, 6, 64, 66, 130, 1024, 1026, 5000}) {
                Row x = values_of(mix.x, make_inputs(plain(0, n, mix)).x);
                for (std::size_t i = 0; i < x.size(); i += 2) {
                    x[i] = x[i] == 0 ? 1 : x[i];
                    x[i + 1] = -x[i];
                }
                CHECK(difference(mix.y, normalise(plain(0, n, mix), x), normalise(plain(2, n, mix), x), "y") == "");
            }
    }

    TEST_CASE("pRMSNorm with p = 1 or k = n is RMSNorm; its factor is that of the first k elements") {
        for (const Mix &mix : main_mixes())
            for (const std::int64_t n : {1, 3, 64, 65, 200, 1300}) {
                Case c = plain(0, n, mix);
                c.eps = 1e-5;
                const Inputs in = make_inputs(c);
                const Outputs whole = check(c, in).outputs;
                c.p = 1;
                CHECK(difference(c, whole, check(c, in).outputs) == "");
                c.p = 0;
                c.k = n;
                CHECK(difference(c, whole, check(c, in).outputs) == "");
                for (const std::int64_t k : {std::int64_t{1}, (n + 1) / 2, n}) {
                    c.k = k;
                    Case first = plain(0, k, mix);
                    first.eps = 1e-5;
                    const Inputs part{
                        {in.x.begin(), in.x.begin() + k * static_cast<std::int64_t>(size_of(mix.x))}, {}, {}, {}};
                    CHECK(difference(statistic_type(c), check(first, part).outputs.rstd, check(c, in).outputs.rstd,
                                     "rstd") == "");
                }
            }
    }

    TEST_CASE("RMSNorm is sqrt(n) times L2Norm, exactly where sqrt(n) is a power of two") {
        for (const std::int64_t n : {1, 4, 16, 64, 256, 1024, 4096, 16384}) {
            const Row x = values_of(ROWNORM_F32, make_inputs(plain(0, n)).x);
            const Row l2 = scaled_row(values(plain(3, n), x), std::sqrt(static_cast<long double>(n)));
            CHECK(values(plain(0, n), x) == l2);
        }
    }
}
