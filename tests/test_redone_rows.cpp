// SPDX-License-Identifier: Apache-2.0
//
// Rows that are redone in f64 keep the promised order of additions, and round as the others do. In f64 that order
// shows in few rows: these.
#include "formats.hpp"
#include "lane_model.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

using namespace rownorm_test;

namespace {

void check_bits(const Case &c, const std::vector<long double> &x, const std::vector<long double> &w = {}) {
    const Inputs in{elements(c.mix.x, x), {}, elements(c.mix.weight, w), {}};
    check_same_bits(c, in, {}, lane_model(c, in));
}

/// Squares that are too small to count in one lane with the first element's, and count together in a lane of their
/// own, which with 64 lanes, not with 32, they have; then an element whose y the difference shows in.
void check_squares(float first, float last, int formula) {
    std::vector<long double> x(1024, 0);
    x[0] = static_cast<long double>(first);
    x[1] = 0x1.5c3a1ep126L;
    for (std::size_t i = 32; i < x.size(); i += 64)
        x[i] = 0x1.5775c6p99L;
    x.push_back(static_cast<long double>(last));
    Case c;
    c.n = 1025;
    set_formula(c, formula);
    c.p = 0;
    c.k = 1024;
    c.eps = 0;
    check_bits(c, x);
}

/// A difference of huge numbers in one of 32 lanes, next to which the third is nothing; it is the lane's sum with 64.
void check_mean(rownorm_type type, std::int64_t n, std::size_t lane, long double huge, long double third) {
    std::vector<long double> x(static_cast<std::size_t>(n), 0);
    x[lane] = huge;
    x[lane + 32] = third;
    x[lane + 64] = -huge;
    Case c;
    c.op = ROWNORM_LAYER_NORM;
    c.mix = all_of(type);
    c.n = n;
    c.eps = 0;
    check_bits(c, x);
}

} // namespace

TEST_SUITE("redone rows") {
    TEST_CASE("squares are added in 64 lanes") {
        constexpr int partial = 1;
        check_squares(0x1.026e98p+126F, 0x1.0e8034p+125F, partial);
        check_squares(0x1.03126ep+126F, 0x1.08a512p+125F, partial);
        check_squares(0x1.0ced92p+126F, 0x1.9657eep+125F, partial);
        check_squares(0x1.0ed916p+126F, 0x1.fd49bep+125F, partial);
    }

    TEST_CASE("LayerNorm's first sum is in 64 lanes") {
        for (const rownorm_type type : {ROWNORM_F32, ROWNORM_BF16})
            for (const std::int64_t n : {97, 100, 128, 1000})
                for (const std::size_t lane : {0U, 5U, 31U})
                    check_mean(type, n, lane, 0x1.8p127L, 0x1.8p50L);
    }

    TEST_CASE("f16 overflows from 65,520 on, not above it") {
        Case c;
        c.mix = {ROWNORM_F32, ROWNORM_F32, ROWNORM_F16, ROWNORM_F32};
        c.n = 5;
        c.eps = 0;
        c.gain = true;
        for (const long double magnitude : {0x1p120L, 0x1p-80L})
            check_bits(c, std::vector<long double>(5, magnitude), {65504, 65519, 65520, -65520, 65536});
    }

    TEST_CASE("what overflows f32 on its way to bf16 or f16 is infinite, not NaN") {
        for (const rownorm_type y : {ROWNORM_BF16, ROWNORM_F16, ROWNORM_F32}) {
            Case c;
            c.mix = {ROWNORM_F32, ROWNORM_F32, y, ROWNORM_F32};
            c.n = 5;
            c.eps = 0;
            c.gain = true;
            check_bits(c, {0x1p120L, -0x1p120L, 0, 0, 0}, {3e38L, 3e38L, 3e38L, 3e38L, 3e38L});
        }
    }
}
