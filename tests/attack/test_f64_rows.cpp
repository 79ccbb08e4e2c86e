// SPDX-License-Identifier: Apache-2.0
//
// f64 rows over the whole range of exponents: rows of one value, and partial statistics beside elements of another
// magnitude. Scaling a row by its largest element once lost eps, and elements, to underflow.
#include "../formats.hpp"
#include "../run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace rownorm_test;

namespace {

std::vector<std::byte> row_of(const std::vector<double> &values) {
    return elements(ROWNORM_F64, std::vector<long double>(values.begin(), values.end()));
}

Case f64_case(rownorm_op op, std::int64_t n, double eps) {
    Case c;
    c.op = op;
    c.mix = all_of(ROWNORM_F64);
    c.n = n;
    c.eps = eps;
    return c;
}

double first(const std::vector<std::byte> &values) { return static_cast<double>(load(ROWNORM_F64, values.data())); }

} // namespace

TEST_SUITE("attack: f64 rows") {
    TEST_CASE("LayerNorm of one value: 0 and 1/sqrt(eps), at every magnitude and length") {
        for (int exponent = -1070; exponent < 1024; exponent += 6)
            for (std::int64_t n = 1; n < 70; n = n < 20 ? n + 1 : n + 7) {
                if (!kept(static_cast<std::uint64_t>(n + exponent + 2000)))
                    continue;
                const double value = std::ldexp(1.7037, exponent);
                for (const double eps : {1e-5, 1e-12}) {
                    CAPTURE(value);
                    CAPTURE(n);
                    CAPTURE(eps);
                    const Case c = f64_case(ROWNORM_LAYER_NORM, n, eps);
                    const Inputs in{row_of(std::vector<double>(static_cast<std::size_t>(n), value)), {}, {}, {}};
                    const Outputs out = check(c, in).outputs;
                    for (const long double y : values_of(ROWNORM_F64, out.y))
                        REQUIRE(y == 0);
                    CHECK(first(out.rstd) == doctest::Approx(1 / std::sqrt(eps)));
                }
            }
    }

    TEST_CASE("pRMSNorm: what lies behind the part neither scales it nor stops it") {
        constexpr double inf = std::numeric_limits<double>::infinity();
        for (const double part : {1e-300, 1e-160, 1.0, 1e160, 1e300})
            for (const double behind : {0.0, 1e-320, 1e-200, 1.0, 1e200, 1.7e308, inf, std::nan("")}) {
                CAPTURE(part);
                CAPTURE(behind);
                Case c = f64_case(ROWNORM_RMS_NORM, 6, 0);
                c.k = 2;
                const Inputs in{row_of({part, -part, behind, part, -behind, part / 8}), {}, {}, {}};
                const std::vector<long double> y = values_of(ROWNORM_F64, check(c, in).outputs.y);
                CHECK(static_cast<double>(y[0]) == doctest::Approx(1));
                CHECK(static_cast<double>(y[1]) == doctest::Approx(-1));
                CHECK(static_cast<double>(y[3]) == doctest::Approx(1));
                CHECK(static_cast<double>(y[5]) == doctest::Approx(0.125));
            }
    }

    TEST_CASE("elements far below the largest keep their digits") {
        for (const double large : {1e155, 1e200, 1e300})
            for (const double small : {1e-300, 1e-100, 1e-20}) {
                CAPTURE(large);
                CAPTURE(small);
                for (const rownorm_op op : {ROWNORM_RMS_NORM, ROWNORM_L2_NORM}) {
                    Case c = f64_case(op, 4, 1e-5);
                    c.gain = true; // brings the small ones back into the range where each digit counts
                    const Inputs in{row_of({large, small, 3 * small, -large}), {}, row_of({1, 1e300, 1e300, 1}), {}};
                    check(c, in);
                }
            }
    }
}
