// SPDX-License-Identifier: Apache-2.0
//
// The bits themselves: every ISA against the promised arithmetic in scalar code.
#include "formats.hpp"
#include "lane_model.hpp"
#include "random.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace rownorm_test;

namespace {

Case member(const Mix &mix, std::int64_t n, std::uint64_t seed) {
    Random random(seed);
    Case c;
    c.mix = mix;
    c.n = n;
    c.rows = n > 1000 ? 1 : 3;
    set_formula(c, static_cast<int>(random.below(formulas)));
    c.gain = random.below(2) == 0;
    c.bias = random.below(2) == 0;
    c.weight_offset = random.below(4) == 0 ? 1 : 0;
    c.eps = random.below(4) == 0 ? 0 : 1e-5;
    if (mix.x != ROWNORM_F64 && random.below(4) == 0)
        c.round = static_cast<rownorm_round>(1 + random.below(2));
    c.data = every_data[random.below(std::size(every_data))];
    c.seed = seed;
    return c;
}

/// One that is modelled.
Case modelled_member(const Mix &mix, std::int64_t n, std::uint64_t &seed) {
    Case c = member(mix, n, ++seed);
    while (!is_modelled(c))
        c = member(mix, n, ++seed);
    return c;
}

void check_bits(const Case &c) {
    const Inputs in = make_inputs(c);
    check_same_bits(c, in, {}, lane_model(c, in));
}

/// Rows on the brink of being redone: the root's argument just above and below 2^-100.
void check_brink(int formula, std::int64_t n, float value) {
    Case c;
    c.n = n;
    set_formula(c, formula);
    c.eps = 0;
    std::vector<long double> x;
    for (std::int64_t i = 0; i < n; ++i)
        x.push_back(static_cast<long double>(i % 3 == 1 ? -value / 3 : value));
    const Inputs in{elements(ROWNORM_F32, x), {}, {}, {}};
    check_same_bits(c, in, {}, lane_model(c, in));
}

} // namespace

TEST_SUITE("lane model") {
    TEST_CASE("every mix of types, lengths up to two tiles and around the chunk") {
        std::uint64_t seed = 0;
        int count = 0;
        for (const Mix &mix : every_mix(false))
            for (std::int64_t n = 1; n <= 140; ++n)
                if (kept(++seed)) {
                    check_bits(modelled_member(mix, n, seed));
                    ++count;
                }
        for (const Mix &mix : main_mixes())
            for (const std::int64_t n :
                 {576, 1023, 1024, 1025, 1055, 1056, 1057, 1087, 1088, 1089, 2047, 2048, 2049, 4096, 7000, 65536})
                for (int i = 0; i < scaled(8); ++i)
                    check_bits(modelled_member(mix, n, seed));
        CHECK(count >= (test_scale() < 1 ? 1 : 28 * 140));
    }

    TEST_CASE("which rows are redone") {
        for (const int formula : {0, 2, 3, 4, 5, 6})
            for (const std::int64_t n : {1, 7, 64, 200})
                for (int exponent = -70; exponent <= -30; ++exponent)
                    for (const float fraction : {1.0F, 1.2F, 1.41421F, 1.9F})
                        if (formula != 2 || n > 1)
                            check_brink(formula, n, std::ldexp(fraction, exponent));
        for (const int formula : {0, 2, 3})
            for (const float value : {1e18F, 1.8e19F, 1.9e19F, 3e19F, 1e37F, 3e38F})
                for (const std::int64_t n : {2, 64, 65, 1500})
                    check_brink(formula, n, value);
    }
}
