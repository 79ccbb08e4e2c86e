// SPDX-License-Identifier: Apache-2.0
//
// A square is added with one rounding. The rows here have a lane whose sum, rounded to f64 on the way, would lie
// halfway between two floats, and be rounded to the other one than the exact sum.
#include "lane_model.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace rownorm_test;

namespace {

/// What follows each other in one lane. Found by search.
struct Pair {
    float first, second;
};
constexpr Pair pairs[] = {
    {0x1.5d13dcp+5F, 0x1.6a15e8p+23F}, {0x1.c07fa6p+5F, 0x1.6a55d6p+23F}, {0x1.554aacp+4F, 0x1.6aa556p+23F},
    {0x1.eeb4fep+5F, 0x1.6ad348p+23F}, {0x1.9a585p+5F, 0x1.6adbd6p+23F},  {0x1.73ce2p+4F, 0x1.6b3a2cp+23F},
    {0x1.32eee8p+4F, 0x1.6b6168p+23F}, {0x1.dddc62p+5F, 0x1.6b8778p+23F},
};

/// A row of zeros but for the pair, 64 elements apart; scaled by a power of two, which changes no digit.
void check_pair(const Pair &pair, std::size_t lane, int exponent) {
    std::vector<long double> x(128, 0);
    x[lane] = static_cast<long double>(std::ldexp(pair.first, exponent));
    x[lane + 64] = static_cast<long double>(std::ldexp(pair.second, exponent));
    Case c;
    c.n = 128;
    c.k = 65 + static_cast<std::int64_t>(lane); // of which the halves of a sum do not hide the last bit
    c.eps = 0;
    const Inputs in{elements(ROWNORM_F32, x), {}, {}, {}};
    check_same_bits(c, in, {}, lane_model(c, in));
}

} // namespace

TEST_SUITE("lane model") {
    TEST_CASE("squares whose sum lies next to halfway between two floats") {
        for (const Pair &pair : pairs)
            for (std::size_t lane = 0; lane < 63; ++lane)
                for (const int exponent : {-60, -24, 0, 30})
                    check_pair(pair, lane, exponent);
    }
}
