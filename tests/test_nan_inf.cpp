// SPDX-License-Identifier: Apache-2.0
//
// NaN and infinity stay in their row and follow the formula.
#include "formats.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace rownorm_test;

namespace {

constexpr long double no_number = std::numeric_limits<long double>::quiet_NaN();
constexpr long double infinity = std::numeric_limits<long double>::infinity();

Case three_rows(const Mix &mix, int formula, std::int64_t n) {
    Case c;
    c.mix = mix;
    c.rows = 3;
    c.n = n;
    set_formula(c, formula);
    c.gain = true;
    c.eps = 1e-6;
    return c;
}

void set(std::vector<std::byte> &rows, rownorm_type type, std::int64_t at, long double value) {
    store(type, rows.data() + static_cast<std::size_t>(at) * size_of(type), value);
}

bool same_row(const Case &c, const std::vector<std::byte> &a, const std::vector<std::byte> &b, std::int64_t row) {
    const auto bytes = static_cast<std::ptrdiff_t>(c.n) * static_cast<std::ptrdiff_t>(size_of(c.mix.y));
    return std::equal(a.begin() + row * bytes, a.begin() + (row + 1) * bytes, b.begin() + row * bytes);
}

std::vector<long double> check_row(const Mix &mix, int formula, const std::vector<long double> &x) {
    Case c = three_rows(mix, formula, static_cast<std::int64_t>(x.size()));
    c.rows = 1;
    c.gain = false;
    return values_of(c.mix.y, check(c, Inputs{elements(c.mix.x, x), {}, {}, {}}).outputs.y);
}

} // namespace

TEST_SUITE("NaN and infinity") {
    TEST_CASE("in x, at any position: the other rows keep their bits") {
        std::uint64_t member = 0;
        for (const Mix &mix : main_mixes())
            for (int formula = 0; formula < formulas; ++formula)
                for (const std::int64_t n : {1, 3, 19, 64, 130, 1100})
                    for (const long double value : {no_number, infinity, -infinity}) {
                        if (!kept(++member))
                            continue;
                        const Case c = three_rows(mix, formula, n);
                        Inputs in = make_inputs(c);
                        const std::vector<std::byte> before = check(c, in).outputs.y;
                        for (const std::int64_t i : {std::int64_t{0}, n / 2, n - 1}) {
                            Inputs bad = in;
                            set(bad.x, mix.x, n + i, value);
                            const std::vector<std::byte> after = check(c, bad).outputs.y;
                            CHECK(same_row(c, before, after, 0));
                            CHECK(same_row(c, before, after, 2));
                        }
                    }
    }

    TEST_CASE("in the statistic, NaN takes the whole row with it, also past a max") {
        for (const Mix &mix : main_mixes())
            for (int formula = 0; formula < formulas; ++formula) {
                const std::vector<long double> y = check_row(mix, formula, {no_number, 1, 2, 3, 4, 5, 6, 7, 8, 9});
                CHECK(std::all_of(y.begin(), y.end(), [](long double v) { return std::isnan(v); }));
            }
    }

    TEST_CASE("an infinity: NaN in its place, 0 elsewhere; LayerNorm has no finite mean") {
        for (const Mix &mix : main_mixes()) {
            const std::vector<long double> rms = check_row(mix, 0, {infinity, 1, -1, 1});
            CHECK(std::isnan(rms[0]));
            CHECK(std::all_of(rms.begin() + 1, rms.end(), [](long double v) { return v == 0; }));
            const std::vector<long double> layer = check_row(mix, 2, {infinity, 1, -1, 1});
            CHECK(std::all_of(layer.begin(), layer.end(), [](long double v) { return std::isnan(v); }));
        }
    }

    TEST_CASE("behind the part that pRMSNorm measures, they touch nothing else") {
        for (const Mix &mix : main_mixes())
            for (const std::int64_t n : {6, 130, 3000}) {
                const Case c = three_rows(mix, 1, n);
                Inputs in = make_inputs(c);
                const std::vector<long double> before = values_of(mix.y, check(c, in).outputs.y);
                set(in.x, mix.x, n + n - 1, no_number);
                set(in.x, mix.x, n + n - 2, infinity);
                const std::vector<long double> after = values_of(mix.y, check(c, in).outputs.y);
                for (std::size_t i = 0; i < before.size(); ++i)
                    if (i + 1 == static_cast<std::size_t>(2 * n))
                        CHECK(std::isnan(after[i]));
                    else if (i + 2 == static_cast<std::size_t>(2 * n))
                        CHECK(std::isinf(after[i]));
                    else
                        CHECK(after[i] == before[i]);
            }
    }

    TEST_CASE("in a gain, a bias or a residual: where the formula takes them") {
        for (const Mix &mix : main_mixes())
            for (const long double value : {no_number, infinity}) {
                Case c = three_rows(mix, 2, 21);
                c.bias = c.residual = true;
                const Inputs clean = make_inputs(c);
                Inputs in = clean;
                set(in.w, mix.weight, 5, value);
                check(c, in);
                in = clean;
                set(in.b, mix.weight, 20, value);
                check(c, in);
                in = clean;
                set(in.residual, mix.residual, 21 + 7, value);
                const std::vector<std::byte> after = check(c, in).outputs.y, before = check(c, clean).outputs.y;
                CHECK(same_row(c, before, after, 0));
                CHECK(same_row(c, before, after, 2));
            }
    }

    TEST_CASE("NaN payloads survive no conversion into a number") {
        // Rounding by adding to the bits would carry these into infinity or -0.
        for (const rownorm_type out : {ROWNORM_F16, ROWNORM_BF16, ROWNORM_F32})
            for (const std::uint32_t bits : {0x7fffffffU, 0x7f800001U, 0xffffffffU, 0xff800001U, 0x7fffe000U})
                for (std::int64_t n = 1; n <= 70; n += 3) {
                    Case c;
                    c.mix = {ROWNORM_F32, out, out, ROWNORM_F32};
                    c.n = n;
                    Inputs in = make_inputs(c);
                    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
                        std::copy_n(reinterpret_cast<const std::byte *>(&bits), 4,
                                    in.x.begin() + 4 * static_cast<std::ptrdiff_t>(i));
                    for (const long double value : values_of(out, check(c, in).outputs.y))
                        CHECK(std::isnan(value));
                    // The same as the sum of a fused add, rounded to the residual's type.
                    c.residual = true;
                    in.residual = elements(out, std::vector<long double>(static_cast<std::size_t>(n), 1));
                    for (const long double value : values_of(out, check(c, in).outputs.residual_out))
                        CHECK(std::isnan(value));
                }
    }

    TEST_CASE("one NaN of a gain, at any element, survives the rounding of what is beside it") {
        for (const rownorm_type x : {ROWNORM_F32, ROWNORM_BF16})
            for (const std::uint32_t bits : {0x7fffffffU, 0xff800001U})
                for (const std::int64_t n : {21, 64})
                    for (std::int64_t odd = 0; odd < n; ++odd) {
                        Case c;
                        c.mix = {x, ROWNORM_BF16, ROWNORM_BF16, ROWNORM_F32};
                        c.n = n;
                        c.gain = true;
                        Inputs in = make_inputs(c);
                        std::copy_n(reinterpret_cast<const std::byte *>(&bits), 4, in.w.begin() + 4 * odd);
                        const std::vector<long double> y = values_of(ROWNORM_BF16, check(c, in).outputs.y);
                        CHECK(std::isnan(y[static_cast<std::size_t>(odd)]));
                    }
    }
}
