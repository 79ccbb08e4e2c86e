// SPDX-License-Identifier: Apache-2.0
//
// In place: every legal alias gives the bits of the run into memory of its own.
#include "formats.hpp"
#include "random.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

using namespace rownorm_test;

namespace {

/// An output may go over an input of the same element size, also of another type.
bool fits(const Mix &mix, Place place, rownorm_type output) {
    if (place == Place::over_x)
        return size_of(mix.x) == size_of(output);
    return place != Place::over_residual || size_of(mix.residual) == size_of(output);
}

bool legal(const Mix &mix, Place y, Place sum) {
    return y != Place::nowhere && fits(mix, y, mix.y) && fits(mix, sum, mix.residual) && (y == Place::own || y != sum);
}

std::vector<Mix> mixes() {
    std::vector<Mix> all = main_mixes();
    all.push_back({ROWNORM_BF16, ROWNORM_F16, ROWNORM_F16, ROWNORM_F32});
    all.push_back({ROWNORM_F16, ROWNORM_BF16, ROWNORM_BF16, ROWNORM_F16});
    return all;
}

constexpr Place places[] = {Place::own, Place::nowhere, Place::over_x, Place::over_residual};

/// All pairs of places for one case; returns how many were legal.
int check_aliases(const Case &c, const Placement &placement) {
    const Inputs in = make_inputs(c);
    const Outputs expected = check(c, in).outputs;
    int count = 0;
    for (const Place y : places)
        for (const Place sum : places) {
            const bool without = !c.residual && (y == Place::over_residual || sum != Place::own);
            if (without || !legal(c.mix, y, sum))
                continue;
            Setup setup;
            setup.x = setup.residual = placement;
            setup.y_place = y;
            setup.residual_out_place = sum;
            check_same_bits(c, in, setup, expected);
            ++count;
        }
    return count;
}

} // namespace

TEST_SUITE("aliasing") {
    TEST_CASE("y and residual_out over x and the residual, in every legal way") {
        int count = 0, members = 0;
        for (const Mix &mix : mixes())
            for (int formula = 0; formula < formulas; ++formula)
                for (const std::int64_t n : {1, 7, 64, 67, 130, 257, 1025, 4100})
                    for (const bool residual : {false, true}) {
                        Case c;
                        c.mix = mix;
                        c.rows = n > 1000 ? 3 : 9;
                        c.n = n;
                        set_formula(c, formula);
                        c.residual = residual;
                        c.gain = c.bias = true;
                        c.seed = scramble(static_cast<std::uint64_t>(n)) % 100000;
                        if (!kept(static_cast<std::uint64_t>(++members)))
                            continue;
                        count += check_aliases(c, {n % 2, n % 3 * 5, false, Guard::none});
                    }
        if (test_scale() >= 1) // f32, f16, bf16, f64 and the last two: 2 + 10; the others fewer
            CHECK(count > formulas * 8 * 6 * 12);
    }
}
