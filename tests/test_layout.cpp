// SPDX-License-Identifier: Apache-2.0
//
// Rows anywhere in memory: addresses that are multiples of the element only, gaps, three outer
// dimensions in either order, broadcast inputs, gains per head, and rows that interleave. None of it
// may change a bit, and no byte outside the rows may be touched.
#include "formats.hpp"
#include "random.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <set>

using namespace rownorm_test;

namespace {

Case full_case(const Mix &mix, std::int64_t n, int formula, std::uint64_t seed) {
    Case c;
    c.mix = mix;
    c.n = n;
    c.rows = 12;
    set_formula(c, formula);
    c.gain = c.bias = c.residual = true;
    c.eps = 1e-5;
    c.seed = seed;
    return c;
}

/// One drawn setup, as the level of each factor; the last factor is the outer shape.
using Levels = std::array<int, 9>;
constexpr Levels level_counts = {4, 4, 4, 4, 4, 4, 3, 2, 4};

Placement placement_of(int level, bool outer_first) {
    constexpr std::int64_t offsets[] = {0, 1, 3, 7}, gaps[] = {0, 1, 0, 29};
    return {offsets[level], gaps[level], outer_first, Guard::none};
}

Setup setup_of(const Levels &level) {
    Setup setup;
    const bool swapped = level[7] == 1;
    Placement *const placements[] = {&setup.x, &setup.residual, &setup.w, &setup.b, &setup.residual_out, &setup.y};
    for (std::size_t i = 0; i < 6; ++i)
        *placements[i] = placement_of(level[i], swapped && i % 2 == 0);
    setup.weight_per_row = level[6] == 1;
    setup.residual_out_place = level[6] == 2 ? Place::nowhere : Place::own;
    constexpr std::array<std::int64_t, 3> shapes[] = {{1, 1, 12}, {12, 1, 1}, {1, 4, 3}, {2, 3, 2}};
    setup.extent = shapes[level[8]];
    return setup;
}

Levels draw(Random &random) {
    Levels level{};
    for (std::size_t f = 0; f < level.size(); ++f)
        level[f] = static_cast<int>(random.below(static_cast<std::uint64_t>(level_counts[f])));
    return level;
}

using Pair = std::array<int, 4>; // factor and level of one, factor and level of the other

void note_pairs(const Levels &level, std::set<Pair> &seen) {
    for (int f = 0; f < 9; ++f)
        for (int g = f + 1; g < 9; ++g)
            seen.insert({f, level[static_cast<std::size_t>(f)], g, level[static_cast<std::size_t>(g)]});
}

std::size_t all_pairs() {
    std::size_t count = 0;
    for (std::size_t f = 0; f < level_counts.size(); ++f)
        for (std::size_t g = f + 1; g < level_counts.size(); ++g)
            count += static_cast<std::size_t>(level_counts[f] * level_counts[g]);
    return count;
}

} // namespace

TEST_SUITE("layout") {
    TEST_CASE("offsets, gaps, shapes and orders, pairwise") {
        for (const Mix &mix : main_mixes()) {
            Random random(4711 + mix.x * 5 + mix.y);
            std::set<Pair> seen;
            const int count = scaled(160);
            for (int i = 0; i < count; ++i) {
                constexpr std::int64_t lengths[] = {1, 5, 64, 67, 130, 1030};
                const Case c = full_case(mix, lengths[random.below(6)], i % formulas, random.next());
                const Inputs in = make_inputs(c);
                const Levels level = draw(random);
                note_pairs(level, seen);
                check_same_bits(c, in, setup_of(level), check(c, in).outputs);
            }
            if (test_scale() >= 1)
                CHECK(seen.size() == all_pairs());
        }
    }

    TEST_CASE("each argument off by one element, all combinations") {
        for (const Mix &mix : main_mixes())
            for (int formula = 0; formula < 4; ++formula) {
                const Case c = full_case(mix, 67, formula, 5);
                const Inputs in = make_inputs(c);
                const Outputs expected = check(c, in).outputs;
                for (unsigned shift = 0; shift < 64; ++shift) {
                    Setup setup;
                    Placement *const all[] = {&setup.x, &setup.residual,     &setup.w,
                                              &setup.b, &setup.residual_out, &setup.y};
                    for (unsigned i = 0; i < 6; ++i)
                        all[i]->offset = shift >> i & 1;
                    if (kept(shift))
                        check_same_bits(c, in, setup, expected);
                }
            }
    }

    TEST_CASE("every alignment of x and y within 128 bytes") {
        for (const Mix &mix : main_mixes())
            for (const std::int64_t n : {61, 200, 1029}) {
                Case c = full_case(mix, n, 2, 6);
                c.residual = false;
                const Inputs in = make_inputs(c);
                const Outputs expected = check(c, in).outputs;
                for (std::int64_t offset = 0; offset < 64; ++offset) {
                    Setup setup;
                    setup.x.offset = offset;
                    setup.y.offset = 63 - offset / 2;
                    if (kept(static_cast<std::uint64_t>(offset)))
                        check_same_bits(c, in, setup, expected);
                }
            }
    }
}
