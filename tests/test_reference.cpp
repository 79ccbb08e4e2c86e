// SPDX-License-Identifier: Apache-2.0
//
// The reference itself: its 16-bit formats against their definition, its formulas against closed forms.
#include "compare.hpp"
#include "formats.hpp"
#include "reference.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace rownorm_test;

namespace {

long double half_value(rownorm_type type, unsigned bits) {
    const auto word = static_cast<std::uint16_t>(bits);
    return load(type, &word);
}

unsigned half_bits(rownorm_type type, long double value) {
    std::uint16_t word = 0;
    store(type, &word, value);
    return word;
}

/// Between every two neighbours: the middle goes to the even one, anything else to the nearer one.
void check_rounding_between_neighbours(rownorm_type type, unsigned infinity) {
    int wrong = 0;
    for (unsigned bits = 0; bits < infinity; ++bits) {
        const long double low = half_value(type, bits);
        // The neighbour of the largest number is where the next binade would begin.
        const long double high = bits + 1 < infinity ? half_value(type, bits + 1) : low + ulp_at(type, low);
        const long double middle = (low + high) / 2, nudge = (high - low) * std::ldexp(1.0L, -40);
        wrong += half_bits(type, low) != bits;
        wrong += half_bits(type, middle) != (bits % 2 == 0 ? bits : bits + 1);
        wrong += half_bits(type, middle - nudge) != bits;
        wrong += half_bits(type, middle + nudge) != bits + 1;
        wrong += half_bits(type, -middle + nudge) != (bits | 0x8000);
        wrong += half_bits(type, -middle - nudge) != ((bits + 1) | 0x8000);
    }
    CHECK(wrong == 0);
}

/// The row 1, 2, ..., n.
ReferenceRow reference_of_ramp(Case &c, std::int64_t n) {
    std::vector<long double> ramp;
    for (std::int64_t i = 1; i <= n; ++i)
        ramp.push_back(static_cast<long double>(i));
    c.n = n;
    return reference_row(c, elements(c.mix.x, ramp).data(), nullptr);
}

bool close(long double found, long double expected) {
    return std::fabs(found - expected) <= std::ldexp(std::fabs(expected), -60);
}

} // namespace

TEST_SUITE("reference") {
    TEST_CASE("16-bit formats: known values") {
        CHECK(half_value(ROWNORM_F16, 0x3c00) == 1.0L);
        CHECK(half_value(ROWNORM_F16, 0x7bff) == 65504.0L);
        CHECK(half_value(ROWNORM_F16, 0x0001) == std::ldexp(1.0L, -24));
        CHECK(half_value(ROWNORM_F16, 0xc248) == -3.140625L);
        CHECK(half_value(ROWNORM_BF16, 0x3f80) == 1.0L);
        CHECK(half_value(ROWNORM_BF16, 0x4049) == 3.140625L);
        CHECK(half_value(ROWNORM_BF16, 0x0001) == std::ldexp(1.0L, -133));
        CHECK(std::isinf(half_value(ROWNORM_F16, 0xfc00)));
        CHECK(std::isnan(half_value(ROWNORM_BF16, 0x7f81)));
        CHECK(half_bits(ROWNORM_F16, 65520.0L) == 0x7c00);
        CHECK(half_bits(ROWNORM_F16, 65519.0L) == 0x7bff);
        CHECK(half_bits(ROWNORM_BF16, static_cast<long double>(std::numeric_limits<float>::max())) == 0x7f80);
        CHECK(half_bits(ROWNORM_BF16, -0.0L) == 0x8000);
        CHECK(std::isnan(round_to(ROWNORM_F16, std::numeric_limits<long double>::quiet_NaN())));
    }

    TEST_CASE("16-bit formats: nearest even between all neighbours") {
        check_rounding_between_neighbours(ROWNORM_F16, 0x7c00);
        check_rounding_between_neighbours(ROWNORM_BF16, 0x7f80);
    }

    TEST_CASE("ulps") {
        CHECK(ulp_at(ROWNORM_F32, 1.0L) == std::ldexp(1.0L, -23));
        CHECK(ulp_at(ROWNORM_F32, 0.99L) == std::ldexp(1.0L, -24));
        CHECK(ulp_at(ROWNORM_F32, 0.0L) == std::ldexp(1.0L, -149));
        CHECK(ulp_at(ROWNORM_F16, 1e-6L) == std::ldexp(1.0L, -24));
        CHECK(ulp_at(ROWNORM_BF16, -3.0L) == std::ldexp(1.0L, -6));
        CHECK(ulp_at(ROWNORM_F64, 1.5L) == std::ldexp(1.0L, -52));
    }

    TEST_CASE("closed forms over 1, 2, ..., n") {
        for (const std::int64_t n : {1, 2, 3, 10, 64, 65, 1000, 65535}) {
            const auto m = static_cast<long double>(n);
            const long double squares = m * (m + 1) * (2 * m + 1) / 6;
            Case c;
            c.eps = 0;
            CHECK(close(reference_of_ramp(c, n).rstd, 1 / std::sqrt(squares / m)));
            CHECK(close(reference_of_ramp(c, n).t.back(), m / std::sqrt(squares / m)));
            c.op = ROWNORM_L2_NORM;
            CHECK(close(reference_of_ramp(c, n).rstd, 1 / std::sqrt(squares)));
            c.op = ROWNORM_LAYER_NORM;
            c.eps = 0.5;
            const ReferenceRow row = reference_of_ramp(c, n);
            CHECK(close(row.mean, (m + 1) / 2));
            CHECK(close(row.rstd, 1 / std::sqrt((m * m - 1) / 12 + 0.5L)));
        }
    }

    TEST_CASE("the length of a partial statistic") {
        const auto length = [](std::int64_t n, double p) {
            Case c;
            c.n = n;
            c.p = p;
            return statistic_length(c);
        };
        CHECK(length(100, 0.07) == 7);
        CHECK(length(100, 0.0701) == 8);
        CHECK(length(8, 0.0625) == 1);
        CHECK(length(3, 1e-9) == 1);
        CHECK(length(4096, 1) == 4096);
        CHECK(length(3, 1.0 / 3) == 1);
    }

    TEST_CASE("the judge refuses what is outside the bound and takes what is inside") {
        Case c;
        c.n = 4;
        c.eps = 0;
        Inputs in{elements(ROWNORM_F32, {2, -2, 2, -2}), {}, {}, {}};
        const auto verdict = [&](long double second) {
            return compare_to_reference(c, in, {elements(ROWNORM_F32, {1, second, 1, -1}), {}, {}, {}});
        };
        const long double ulp = std::ldexp(1.0L, -23);
        CHECK(verdict(-1).fault.empty());
        CHECK(verdict(-1 - 12 * ulp).fault.empty());
        CHECK(verdict(-1 - 12 * ulp).worst_ulp == 12);
        CHECK_FALSE(verdict(-1 - 13 * ulp).fault.empty());
        CHECK_FALSE(verdict(1).fault.empty());
        CHECK_FALSE(verdict(std::numeric_limits<long double>::quiet_NaN()).fault.empty());
        in.x = elements(ROWNORM_F32, {2, std::numeric_limits<long double>::quiet_NaN(), 2, 2});
        CHECK_FALSE(verdict(-1).fault.empty());
    }
}
