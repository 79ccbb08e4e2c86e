// SPDX-License-Identifier: Apache-2.0
//
// Add and normalise in one call: the bits of the two ops one after the other, whether the sum is
// written back or not.
#include "formats.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

using namespace rownorm_test;

namespace {

/// The add alone, as the contract forms it: in f32 (f64 rows: f64), rounded to the residual's type.
std::vector<std::byte> add(const Case &c, const Inputs &in) {
    const std::vector<long double> x = values_of(c.mix.x, in.x), r = values_of(c.mix.residual, in.residual);
    std::vector<long double> sum;
    for (std::size_t i = 0; i < x.size(); ++i)
        sum.push_back(c.mix.x == ROWNORM_F64
                          ? static_cast<long double>(static_cast<double>(x[i]) + static_cast<double>(r[i]))
                          : static_cast<long double>(static_cast<float>(x[i]) + static_cast<float>(r[i])));
    return elements(c.mix.residual, sum);
}

/// The fused call against add, then normalise.
void check_fused(const Case &c) {
    const Inputs in = make_inputs(c);
    Case second = c;
    second.residual = false;
    second.mix.x = c.mix.residual;
    Outputs expected = check(second, {add(c, in), {}, in.w, in.b}).outputs;
    expected.residual_out = add(c, in);
    Setup setup;
    check_same_bits(c, in, setup, expected);
    setup.residual_out_place = Place::nowhere;
    check_same_bits(c, in, setup, expected);
    if (c.mix.residual != c.mix.x)
        return;
    setup.residual_out_place = Place::over_residual;
    check_same_bits(c, in, setup, expected);
    setup.statistics = false; // the short way
    expected.mean.clear();
    expected.rstd.clear();
    check_same_bits(c, in, setup, expected);
}

} // namespace

TEST_SUITE("fused add") {
    TEST_CASE("equals the two ops, every mix of types") {
        std::uint64_t member = 0;
        for (const Mix &mix : every_mix(true))
            for (int formula = 0; formula < formulas; ++formula)
                for (const std::int64_t n : {1, 6, 64, 75, 129, 1040}) {
                    Case c;
                    c.mix = mix;
                    c.rows = 3;
                    c.n = n;
                    set_formula(c, formula);
                    c.residual = true;
                    c.gain = ++member % 2 == 0;
                    c.bias = member % 3 == 0;
                    c.data = every_data[member % std::size(every_data)];
                    c.seed = member;
                    if (kept(member))
                        check_fused(c);
                }
    }

    TEST_CASE("the sum is rounded to the residual's type before it is normalised") {
        // 1 + 2^-9 is no bf16 number: with the unrounded sum the second element would not be 1.
        Case c;
        c.mix = {ROWNORM_F32, ROWNORM_BF16, ROWNORM_F32, ROWNORM_F32};
        c.n = 2;
        c.eps = 0;
        c.residual = true;
        const Inputs in{elements(ROWNORM_F32, {0, 0.001953125L}), elements(ROWNORM_BF16, {1, 1}), {}, {}};
        for (const Place place : {Place::own, Place::nowhere}) {
            Setup setup;
            setup.residual_out_place = place;
            CHECK(values_of(ROWNORM_F32, check(c, in, setup).outputs.y) == std::vector<long double>{1, 1});
        }
    }

    TEST_CASE("a sum that overflows is infinity, in its row") {
        Case c;
        c.mix = all_of(ROWNORM_F16);
        c.rows = 2;
        c.n = 3;
        c.residual = true;
        const Inputs in{
            elements(ROWNORM_F16, {60000, 1, 1, 1, 1, 1}), elements(ROWNORM_F16, {60000, 1, 1, 1, 1, 1}), {}, {}};
        check(c, in);
    }
}
