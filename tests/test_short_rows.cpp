// SPDX-License-Identifier: Apache-2.0
//
// Every length from 1 to 130 (past two tiles of 64 lanes), every formula, every mix of types, every
// ISA: against the reference once, by bits between the ISAs.
#include "random.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

using namespace rownorm_test;

namespace {

/// What else a member of the sweep has follows its seed, so that every length and every mix meets all.
Case member(const Mix &mix, std::int64_t n, int formula, bool residual, std::uint64_t seed) {
    Random random(seed);
    Case c;
    c.mix = mix;
    c.n = n;
    c.rows = 2;
    set_formula(c, formula);
    c.residual = residual;
    c.gain = random.below(2) == 0;
    c.bias = random.below(2) == 0;
    c.weight_offset = random.below(4) == 0 ? 1 : 0;
    constexpr double some_eps[] = {1e-6, 1e-5, 0.25};
    c.eps = some_eps[random.below(3)];
    if (mix.x != ROWNORM_F64 && random.below(3) == 0)
        c.round = random.below(2) == 0 ? ROWNORM_ROUND_TO_BF16 : ROWNORM_ROUND_TO_F16;
    c.data = every_data[random.below(std::size(every_data))];
    c.seed = seed;
    return c;
}

int sweep(int formula, bool residual) {
    int count = 0;
    std::uint64_t seed = 100000 * static_cast<std::uint64_t>(formula) + (residual ? 50000 : 0);
    for (const Mix &mix : every_mix(residual))
        for (std::int64_t n = 1; n <= 130; ++n)
            if (kept(++seed)) {
                check(member(mix, n, formula, residual, seed));
                ++count;
            }
    return count;
}

void sweep_formula(int formula) {
    const int without = sweep(formula, false), with = sweep(formula, true);
    if (test_scale() >= 1) {
        CHECK(without == 28 * 130);
        CHECK(with == 82 * 130);
    }
}

} // namespace

TEST_SUITE("short rows") {
    TEST_CASE("RMSNorm, n = 1 to 130") { sweep_formula(0); }
    TEST_CASE("partial RMSNorm, n = 1 to 130") { sweep_formula(1); }
    TEST_CASE("LayerNorm, n = 1 to 130") { sweep_formula(2); }
    TEST_CASE("L2Norm max, n = 1 to 130") { sweep_formula(3); }
    TEST_CASE("L2Norm add, n = 1 to 130") { sweep_formula(4); }
    TEST_CASE("L2Norm inside, n = 1 to 130") { sweep_formula(5); }
    TEST_CASE("L2Norm clamp, n = 1 to 130") { sweep_formula(6); }
}
