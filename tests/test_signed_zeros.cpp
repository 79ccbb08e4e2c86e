// SPDX-License-Identifier: Apache-2.0
//
// What is absent changes nothing, not even the sign of a zero: without a weight offset a gain of -0 stays -0.
#include "formats.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace rownorm_test;

namespace {

constexpr std::int64_t n = 70, rows = 3;

/// Alternating signs, so that LayerNorm's mean is 0, and gains of both zeros in every combination with them.
struct Zeros {
    std::vector<long double> x, w, b, y;

    explicit Zeros(long double magnitude) {
        for (std::int64_t i = 0; i < rows * n; ++i) {
            const bool negative = i % 2 != 0, negative_gain = i % n % 4 < 2;
            x.push_back(negative ? -magnitude : magnitude);
            y.push_back(negative != negative_gain ? -0.0L : 0.0L);
            if (i < n) {
                w.push_back(negative_gain ? -0.0L : 0.0L);
                b.push_back(-0.0L); // leaves every zero as it is
            }
        }
    }
};

void check_zeros(Case c, long double magnitude) {
    c.n = n;
    c.rows = rows;
    c.gain = true;
    c.eps = 0;
    const Zeros zeros(magnitude);
    Inputs in{elements(c.mix.x, zeros.x), {}, elements(c.mix.weight, zeros.w), {}};
    if (c.bias)
        in.b = elements(c.mix.weight, zeros.b);
    Setup setup;
    for (const std::string &isa : isas()) {
        setup.isa = isa.c_str();
        const Outputs found = run(c, in, setup);
        if (const std::string text = difference(c.mix.y, elements(c.mix.y, zeros.y), found.y, "y"); !text.empty())
            report(c, setup, text);
    }
}

using OneLine = rownorm_status (*)(float *, const float *, const float *, std::int64_t, std::int64_t, float);

rownorm_status layer_norm(float *y, const float *x, const float *w, std::int64_t count, std::int64_t length,
                          float eps) {
    return rownorm_layer_norm_f32(y, x, w, nullptr, count, length, eps);
}

void check_one_line(OneLine call, std::int64_t count) {
    const Zeros zeros(1.5L);
    const std::vector<std::byte> x = elements(ROWNORM_F32, zeros.x), w = elements(ROWNORM_F32, zeros.w);
    std::vector<std::byte> expected = elements(ROWNORM_F32, zeros.y), y(expected.size());
    expected.resize(static_cast<std::size_t>(count * n) * 4);
    y.resize(expected.size());
    CHECK(call(reinterpret_cast<float *>(y.data()), reinterpret_cast<const float *>(x.data()),
               reinterpret_cast<const float *>(w.data()), count, n, 0) == ROWNORM_OK);
    CHECK(difference(ROWNORM_F32, expected, y, "y") == "");
}

} // namespace

TEST_SUITE("signed zeros") {
    TEST_CASE("a gain of -0 without an offset, in every formula, also in rows that are redone") {
        for (const Mix &mix : main_mixes())
            for (int formula = 0; formula < formulas; ++formula)
                for (const bool bias : {false, true})
                    for (const double offset : {0.0, -0.0}) {
                        Case c;
                        c.mix = mix;
                        set_formula(c, formula);
                        c.bias = bias;
                        c.weight_offset = offset;
                        check_zeros(c, 1.5L);
                        if (mix.x != ROWNORM_F16)
                            check_zeros(c, mix.x == ROWNORM_F64 ? 0x1p1000L : 0x1p120L);
                        c.round = mix.x == ROWNORM_F64 ? ROWNORM_ROUND_ONCE : ROWNORM_ROUND_TO_BF16;
                        check_zeros(c, 1.5L);
                    }
    }

    TEST_CASE("the same in one-line calls") {
        for (const std::int64_t count : {1, 2, 3}) {
            check_one_line(rownorm_rms_norm_f32, count);
            check_one_line(layer_norm, count);
        }
    }
}
