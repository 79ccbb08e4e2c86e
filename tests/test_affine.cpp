// SPDX-License-Identifier: Apache-2.0
//
// From the normalised value to y, bit for bit: t * w', fma(t, w', b), t + b or t; w' = w +
// weight_offset in f32; rounding before the weight; one rounding to y's type. t itself is taken from
// the same row normalised to f32 without gain and bias.
#include "formats.hpp"
#include "random.hpp"
#include "reference.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace rownorm_test;

namespace {

/// y of one element in f32 arithmetic, then rounded to y's type.
long double finish(const Case &c, long double t, const long double *w, const long double *b) {
    if (c.round != ROWNORM_ROUND_ONCE)
        t = round_to(c.round == ROWNORM_ROUND_TO_F16 ? ROWNORM_F16 : ROWNORM_BF16, t);
    auto value = static_cast<float>(t);
    const float gain = w == nullptr ? 1 : static_cast<float>(offset_weight(c, *w));
    if (w != nullptr && b != nullptr)
        value = std::fma(value, gain, static_cast<float>(*b));
    else if (w != nullptr)
        value = value * gain;
    else if (b != nullptr)
        value = value + static_cast<float>(*b);
    return static_cast<long double>(value);
}

/// The same for f64 rows: multiply, then add, never fused.
long double finish_f64(const Case &c, long double t, const long double *w, const long double *b) {
    auto value = static_cast<double>(t);
    if (w != nullptr)
        value = value * static_cast<double>(offset_weight(c, *w));
    if (b != nullptr)
        value = value + static_cast<double>(*b);
    return static_cast<long double>(value);
}

std::vector<std::byte> expected_y(const Case &c, const Inputs &in) {
    Case bare = c;
    bare.gain = bare.bias = false;
    bare.round = ROWNORM_ROUND_ONCE;
    bare.mix.y = statistic_type(c);
    const std::vector<long double> t = values_of(bare.mix.y, check(bare, in).outputs.y);
    const std::vector<long double> w = values_of(c.mix.weight, in.w), b = values_of(c.mix.weight, in.b);
    std::vector<long double> y;
    for (std::size_t i = 0; i < t.size(); ++i) {
        const std::size_t column = i % static_cast<std::size_t>(c.n);
        const auto f = c.mix.x == ROWNORM_F64 ? finish_f64 : finish;
        y.push_back(f(c, t[i], c.gain ? &w[column] : nullptr, c.bias ? &b[column] : nullptr));
    }
    return elements(c.mix.y, y);
}

void check_affine(const Case &c) {
    const Inputs in = make_inputs(c);
    const std::vector<std::byte> y = expected_y(c, in);
    for (const std::string &isa : isas()) {
        Setup setup;
        setup.isa = isa.c_str();
        const std::string text = difference(c.mix.y, y, run(c, in, setup).y, "y");
        if (!text.empty())
            report(c, setup, text);
    }
}

Case draw(const Mix &mix, std::uint64_t seed) {
    Random random(seed);
    constexpr std::int64_t lengths[] = {1, 3, 17, 64, 67, 130, 257, 1100};
    Case c;
    c.mix = mix;
    c.rows = 2;
    c.n = lengths[random.below(8)];
    set_formula(c, static_cast<int>(random.below(formulas)));
    const std::uint64_t optional = random.below(4);
    c.gain = optional % 2 == 0;
    c.bias = optional / 2 == 0;
    constexpr double offsets[] = {0, 0, 1, -0.3};
    c.weight_offset = offsets[random.below(4)];
    if (mix.x != ROWNORM_F64)
        c.round = static_cast<rownorm_round>(random.below(3));
    constexpr Data ordinary[] = {Data::normal, Data::massive, Data::sparse, Data::lognormal};
    c.data = ordinary[random.below(4)];
    c.eps = 1e-3;
    c.seed = seed;
    return c;
}

std::vector<std::byte> signed_zeros(bool bias) {
    Case c;
    c.n = 70;
    c.bias = bias;
    const Inputs in{elements(ROWNORM_F32, std::vector<long double>(70, -0.0L)),
                    {},
                    {},
                    bias ? elements(ROWNORM_F32, std::vector<long double>(70, 0)) : std::vector<std::byte>{}};
    return check(c, in).outputs.y;
}

} // namespace

TEST_SUITE("affine") {
    TEST_CASE("every mix of types, all four combinations of gain and bias, every rounding") {
        std::uint64_t seed = 0;
        for (const Mix &mix : every_mix(false))
            for (int i = 0; i < scaled(60); ++i)
                check_affine(draw(mix, ++seed));
    }

    TEST_CASE("no bias is not a bias of 0: the sign of -0") {
        CHECK(signed_zeros(false) == elements(ROWNORM_F32, std::vector<long double>(70, -0.0L)));
        CHECK(signed_zeros(true) == elements(ROWNORM_F32, std::vector<long double>(70, 0.0L)));
    }

    TEST_CASE("without an offset, a gain of -0 keeps its sign") {
        for (const double offset : {0.0, -0.0}) {
            Case c;
            c.n = 70;
            c.gain = true;
            c.weight_offset = offset;
            const Inputs in{elements(ROWNORM_F32, std::vector<long double>(70, 3)),
                            {},
                            elements(ROWNORM_F32, std::vector<long double>(70, -0.0L)),
                            {}};
            CHECK(check(c, in).outputs.y == elements(ROWNORM_F32, std::vector<long double>(70, -0.0L)));
        }
    }

    TEST_CASE("multiply and add with the bias are one operation") {
        // t is 1/3 rounded to f32; 3 * t rounds to 1, and only a fused operation keeps what 3 * t - 1 is.
        Case c;
        c.op = ROWNORM_L2_NORM;
        c.n = 65;
        c.eps = 3;
        c.gain = c.bias = true;
        std::vector<long double> x(65, 0);
        x[0] = x[64] = 0.5L;
        const auto third = static_cast<long double>(1.0F / 3);
        const Inputs in{elements(ROWNORM_F32, x),
                        {},
                        elements(ROWNORM_F32, std::vector<long double>(65, 6)),
                        elements(ROWNORM_F32, std::vector<long double>(65, -1))};
        const std::vector<long double> y = values_of(ROWNORM_F32, check(c, in).outputs.y);
        CHECK(third * 3 - 1 != 0);
        CHECK(y[0] == third * 3 - 1);
        CHECK(y[64] == third * 3 - 1);
    }

    TEST_CASE("the strides of a gain or bias that is not there mean nothing") {
        constexpr std::int64_t n = 70, rows = 20;
        std::vector<float> x(n * rows), w(n, 2), b(n, 3), y(n * rows), expected(n * rows);
        for (std::size_t i = 0; i < x.size(); ++i)
            x[i] = static_cast<float>(i % 17) - 7;
        for (const rownorm_op op : {ROWNORM_RMS_NORM, ROWNORM_LAYER_NORM, ROWNORM_L2_NORM})
            for (const rownorm_round round : {ROWNORM_ROUND_ONCE, ROWNORM_ROUND_TO_BF16})
                for (const double offset : {0.0, 1.0})
                    for (const bool gain : {false, true}) {
                        rownorm_descriptor d = {};
                        d.struct_size = sizeof d;
                        d.op = op;
                        d.x_type = ROWNORM_F32;
                        d.n = n;
                        d.eps = 1e-5;
                        d.round_before_weight = round;
                        d.weight_offset = offset;
                        const Plan plan(d);
                        rownorm_io io = rownorm_dense_io(&d, rows);
                        io.x.data = x.data();
                        io.y.data = expected.data();
                        (gain ? io.w : io.b).data = gain ? w.data() : b.data();
                        CHECK(rownorm_execute(plan, &io) == ROWNORM_OK);
                        io.y.data = y.data();
                        for (std::int64_t &stride : (gain ? io.b : io.w).stride_bytes)
                            stride = std::int64_t{1} << 40;
                        CHECK(rownorm_execute(plan, &io) == ROWNORM_OK);
                        CHECK(y == expected);
                    }
    }
}
