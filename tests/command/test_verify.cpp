// SPDX-License-Identifier: Apache-2.0
// What --verify takes for right, at the edges of its bounds.
#include "verify.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace command;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

job_shape shape_of(rownorm_type residual, rownorm_type y) {
    job_shape shape;
    shape.rows = shape.n = 1;
    shape.residual = residual;
    shape.y = y;
    return shape;
}

} // namespace

TEST_CASE("a sum is right if it is x + residual, rounded once to the residual's type") {
    const verifier judge({}, shape_of(ROWNORM_BF16, ROWNORM_F32));
    verification found;
    judge.check_sum(found, 3, 5, 1.0, 0x1p-8, 1.0); // halfway, to even
    judge.check_sum(found, 3, 5, 1.0, 0x1.8p-8, 1 + 0x1p-7);
    judge.check_sum(found, 3, 5, nan_value, 1.0, nan_value);
    CHECK(found.beyond == 0);
    judge.check_sum(found, 3, 5, 1.0, 0x1.8p-8, 1.0);
    CHECK(found.beyond == 1);
    CHECK(found.first_beyond.starts_with("row 3, element 5: x + residual 1 found; expected 1.0078125"));
    judge.check_sum(found, 4, 0, 1.0, 1.0, nan_value);
    judge.check_sum(found, 4, 0, nan_value, 1.0, 2.0);
    CHECK(found.beyond == 3);
}

TEST_CASE("an element is right up to the bound, and wrong from there on") {
    normalize_options options;
    options.eps = 0;
    const verifier judge(options, shape_of(ROWNORM_F32, ROWNORM_F32));
    exact_norm exact(options, shape_of(ROWNORM_F32, ROWNORM_F32));
    exact.measure([](std::int64_t, const take_chunk &take) {
        const double x = 1000; // alone in its row, it becomes 1
        take(std::span(&x, 1));
    });
    for (const double ulp : {0.0, 1.0, 11.0, 20.0, 1000.0}) {
        verification found;
        judge.check(found, exact, 0, 0, 1000, nullptr, nullptr, 1 + ulp * 0x1p-23);
        CHECK(found.beyond == (ulp > 12 ? 1 : 0));
        CHECK(found.largest_ulp == doctest::Approx(ulp).epsilon(0.01));
    }
    verification found;
    judge.check(found, exact, 0, 0, 1000, nullptr, nullptr, nan_value);
    CHECK(found.beyond == 1);
}
