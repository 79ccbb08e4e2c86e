// SPDX-License-Identifier: Apache-2.0
//
// fma(t, w, b) on the operands that a multiply-add in pieces gets wrong: sums that a rounding to f64
// makes a tie, subnormal results, the edge of overflow, cancellation. L2Norm with a large power of two
// as eps makes t whatever the test wants: t = x / eps, exactly.
#include "formats.hpp"
#include "random.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace rownorm_test;

namespace {

constexpr int eps_exponent = 30;

struct Operands {
    float t, w, b;
};

/// t * w = 2^exponent * (1 - 2^-30), just short of half an ulp of b: f64 rounds the sum to the tie, from
/// where it goes to the even neighbour; right is the nearer one.
Operands tie_trap(int exponent, std::int32_t significand) {
    const int of_t = exponent < -100 ? -40 : -6; // w stays a normal number
    const float t = std::ldexp(1.0F - std::ldexp(1.0F, -15), of_t);
    const float w = std::ldexp(1.0F + std::ldexp(1.0F, -15), exponent - of_t);
    return {t, w, std::ldexp(static_cast<float>(significand), exponent + 1)};
}

/// Of each kind; always enough for the longest row.
int trap_count() { return std::max(scaled(400), 20); }

std::vector<Operands> traps_and_edges() {
    std::vector<Operands> all;
    Random random(99);
    for (int i = 0; i < trap_count(); ++i) {
        const auto odd = static_cast<std::int32_t>((random.below(1U << 22) * 2 + 1) | 1U << 23); // 24 bits
        all.push_back(tie_trap(static_cast<int>(random.below(200)) - 100, i % 2 == 0 ? odd : -odd));
        const auto small = static_cast<std::int32_t>(random.below(1U << 22) | 1U << 22); // a subnormal b
        all.push_back(tie_trap(-150, i % 2 == 0 ? small : -small));
        // What the product leaves behind when it is taken off.
        const auto t = static_cast<float>(random.uniform() / 16), w = static_cast<float>(random.uniform());
        all.push_back({t, w, -t * w});
        all.push_back({t, w, static_cast<float>(random.normal())});
        // Subnormal and barely normal results.
        all.push_back(
            {t, std::ldexp(w, -120 - i % 30), std::ldexp(static_cast<float>(random.uniform()), -125 - i % 24)});
    }
    constexpr float largest_float = std::numeric_limits<float>::max(),
                    infinity = std::numeric_limits<float>::infinity();
    all.push_back({0.0625F, std::ldexp(1.0F, 107), largest_float}); // the tie above the largest: infinity
    all.push_back({std::nextafter(0.0625F, 0.0F), std::ldexp(1.0F, 107), largest_float});
    all.push_back(tie_trap(103, (1 << 24) - 1)); // just below that tie
    all.push_back({0.0625F, infinity, 1});
    all.push_back({0.0625F, infinity, -infinity});
    all.push_back({0, infinity, 1});
    all.push_back({0, 1, -0.0F});
    all.push_back({-0.0F, 1, -0.0F});
    all.push_back({0.0625F, 16, -1});
    return all;
}

/// One row of n operands, on every ISA, against the C library's fma.
void check_row(const std::vector<Operands> &operands) {
    Case c;
    c.op = ROWNORM_L2_NORM;
    c.n = static_cast<std::int64_t>(operands.size());
    c.eps = std::ldexp(1.0, eps_exponent);
    c.gain = c.bias = true;
    std::vector<long double> x, w, b, y;
    for (const Operands &o : operands) {
        x.push_back(std::ldexp(static_cast<long double>(o.t), eps_exponent));
        w.push_back(static_cast<long double>(o.w));
        b.push_back(static_cast<long double>(o.b));
        y.push_back(static_cast<long double>(std::fma(o.t, o.w, o.b)));
    }
    const Inputs in{elements(ROWNORM_F32, x), {}, elements(ROWNORM_F32, w), elements(ROWNORM_F32, b)};
    for (const std::string &isa : isas()) {
        Setup setup;
        setup.isa = isa.c_str();
        const std::string text = difference(ROWNORM_F32, elements(ROWNORM_F32, y), run(c, in, setup).y, "y");
        if (!text.empty())
            report(c, setup, text);
    }
}

} // namespace

TEST_SUITE("affine") {
    TEST_CASE("the traps are traps: multiply and add in f64 and then f32 gets them wrong") {
        int wrong = 0;
        for (const Operands &o : traps_and_edges()) {
            const double sum = static_cast<double>(o.t) * static_cast<double>(o.w) + static_cast<double>(o.b);
            wrong += static_cast<float>(sum) != std::fma(o.t, o.w, o.b) && !std::isnan(sum);
        }
        CHECK(wrong > trap_count() * 5 / 4);
    }

    TEST_CASE("fma on traps and edges, in every place of a row") {
        const std::vector<Operands> all = traps_and_edges();
        std::size_t rows = 0;
        for (const std::size_t n : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 15U, 16U, 17U, 31U, 33U, 63U, 64U}) {
            for (std::size_t first = 0; first + n <= all.size(); first += n, ++rows) {
                std::vector<Operands> row(all.begin() + static_cast<std::ptrdiff_t>(first),
                                          all.begin() + static_cast<std::ptrdiff_t>(first + n));
                check_row(row);
            }
            std::vector<Operands> last(all.end() - static_cast<std::ptrdiff_t>(n), all.end());
            check_row(last);
        }
        CHECK(rows > all.size());
    }
}
