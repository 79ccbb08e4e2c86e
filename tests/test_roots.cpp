// SPDX-License-Identifier: Apache-2.0
//
// The quick roots and quotients of lib/root.hpp and lib/scale.hpp against their plain formulas: the same f32, bit for
// bit, on numbers of any size and on those whose rounding is hardest to tell. It takes the headers themselves, as no
// caller sees which way a root was taken.
#include "scale.hpp"

#include "case.hpp"
#include "random.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

using namespace rownorm_test;
using rownorm::Count;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

bool same_bits(float a, float b) {
    return __builtin_bit_cast(std::uint32_t, a) == __builtin_bit_cast(std::uint32_t, b) ||
           (std::isnan(a) && std::isnan(b));
}

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }
bool same_bounds(const rownorm::Bounds &a, const rownorm::Bounds &b) {
    return same_number(a.argument, b.argument) && same_number(a.low, b.low) && same_number(a.high, b.high);
}

/// `value` moved by so many of its ulps; it is positive and stays so.
double stepped(double value, int ulps) {
    return __builtin_bit_cast(double, __builtin_bit_cast(std::int64_t, value) + ulps);
}

/// What was compared, and the first difference. One CHECK at the end, as one for each number would take the time of
/// a hundred roots.
class Tally {
public:
    void mean(double sum, std::int64_t n, double eps) {
        const Count elements = rownorm::count_of(n);
        const rownorm::Root plain = rownorm::root_of_mean(sum, elements, eps);
        const bool fits = rownorm::is_finite_number(sum) && rownorm::is_large_enough(plain.argument, false);
        const rownorm::Bounds bounds = rownorm::bounds_of_mean(sum, elements, eps);
        const rownorm::Bounds of_two = rownorm::part(rownorm::bounds_of_mean(rownorm::Two{1, sum}, elements, eps), 1);
        float factor = 0;
        const bool factor_fits = rownorm::f32_root_of_mean(sum, elements, eps, factor);
        count(plain.argument, bounds);
        if (!same_bounds(bounds, of_two) || factor_fits != fits || !same_bits(factor, static_cast<float>(plain.factor)))
            note("root of a mean", sum, 0, n, eps);
    }

    void variance(double sum, double squares, std::int64_t n, double eps) {
        const Count elements = rownorm::count_of(n);
        const rownorm::Root plain = rownorm::root_of_variance(sum, squares, elements, eps);
        const bool fits = rownorm::is_finite_number(sum) && rownorm::is_finite_number(squares) &&
                          rownorm::is_large_enough(plain.argument, false);
        float alone = 0, second = 0;
        const bool alone_fits = rownorm::f32_root_of_variance(sum, squares, elements, eps, alone);
        const rownorm::Bounds of_two = rownorm::part(
            rownorm::bounds_of_variance(rownorm::Two{0, sum}, rownorm::Two{1, squares}, elements, eps), 1);
        const bool second_fits = rownorm::f32_root_of_variance(of_two, sum, squares, elements, eps, second);
        const rownorm::Bounds bounds = rownorm::bounds_of_variance(sum, squares, elements, eps);
        count(plain.argument, bounds);
        const auto factor = static_cast<float>(plain.factor);
        if (!same_bounds(bounds, of_two) || alone_fits != fits || second_fits != fits || !same_bits(alone, factor) ||
            !same_bits(second, factor))
            note("root of a variance", sum, squares, n, eps);
    }

    /// Bounds that settle are those of the formula; they need not settle.
    void l2(rownorm_l2_eps mode, double sum, double eps) {
        rownorm::Formula formula{};
        formula.op = ROWNORM_L2_NORM;
        formula.l2_eps = mode;
        formula.eps = eps;
        const rownorm::Root plain = rownorm::root_of_squares(formula, sum, eps, eps);
        const rownorm::Bounds bounds = rownorm::bounds_of_squares(formula, sum);
        const rownorm::Bounds of_two = rownorm::part(rownorm::bounds_of_squares(formula, rownorm::Two{1, sum}), 1);
        count(plain.argument, bounds);
        float factor = 0;
        const bool fits = rownorm::is_finite_number(sum) && rownorm::is_large_enough(plain.argument, false);
        if (!same_bounds(bounds, of_two) ||
            (rownorm::settle(bounds, factor) && (!fits || !same_bits(factor, static_cast<float>(plain.factor)))))
            note("L2Norm's factor", sum, mode, 1, eps);
    }

    void quotient(double sum, std::int64_t n) {
        const Count elements = rownorm::count_of(n);
        const double inverse = elements.inverse;
        ++usual;
        refused += static_cast<float>(sum * (inverse * rownorm::kBelow)) !=
                   static_cast<float>(sum * (inverse * rownorm::kAbove));
        if (!same_bits(rownorm::f32_quotient(sum, elements), static_cast<float>(sum / static_cast<double>(n))))
            note("quotient", sum, 0, n, 0);
    }

    /// Of the numbers that f32 arithmetic holds without doubt, and quotients: all, and those left to the formula.
    int usual = 0, refused = 0;
    std::string first;

private:
    void count(double argument, const rownorm::Bounds &bounds) {
        if (!(argument > 0x1p-98) || !rownorm::is_finite_number(argument))
            return;
        ++usual;
        float factor = 0;
        refused += !rownorm::settle(bounds, factor);
    }

    void note(const char *what, double sum, double squares, std::int64_t n, double eps) {
        if (!first.empty())
            return;
        std::ostringstream out;
        out << std::hexfloat << what << ": sum " << sum << " squares " << squares << " n " << n << " eps " << eps;
        first = out.str();
    }
};

/// Odd, even, a power of two, and large ones among them.
std::int64_t some_n(Random &random) {
    switch (random.below(5)) {
    case 0:
        return static_cast<std::int64_t>(1 + random.below(300));
    case 1:
        return INT64_C(1) << random.below(30);
    case 2:
        return static_cast<std::int64_t>(1 + random.below(UINT64_C(1) << 40));
    case 3:
        return static_cast<std::int64_t>(1 + 2 * random.below(5000));
    default:
        return 1;
    }
}

/// As a plan has them: f32 numbers.
double some_eps(Random &random) {
    constexpr float some[] = {0, 0, 1e-6F, 1e-5F, 0x1p-149F, 1e-40F, 0x1p-100F, 0x1p-98F, 0x1p-24F, 1, 1e10F, 3e38F};
    return static_cast<double>(some[random.below(std::size(some))]);
}

/// In [1, 2), of any f64 number's digits.
double significand(Random &random) { return 1 + static_cast<double>(random.next() >> 12) * 0x1p-52; }

double power(int exponent) { return std::ldexp(1.0, exponent); }

/// From the smallest f32 number to the largest.
double magnitude(Random &random) { return significand(random) * power(static_cast<int>(random.below(277)) - 149); }

/// Halfway between two neighbouring floats in [1, 2).
double midpoint(Random &random) { return 1 + static_cast<double>(random.below(1 << 23)) * 0x1p-23 + 0x1p-24; }

} // namespace

TEST_SUITE("roots") {
    TEST_CASE("of random sums are those of the formulas, and nearly all of them settle") {
        Random random(1);
        Tally means, variances, quotients;
        for (int i = 0; i < scaled(1000000); ++i) {
            const std::int64_t n = some_n(random);
            const double size = magnitude(random), eps = some_eps(random);
            means.mean(size, n, eps);
            means.mean(size, n, 0);
            constexpr double some[] = {0, 1e-12, 1e-3, 0.4, 0.5 - 1e-9, 0.5, 0.5 + 1e-9, 0.7, 1 - 1e-6, 1 - 1e-15, 1};
            const double share = some[random.below(std::size(some))];
            const double sum = std::sqrt(share * size * static_cast<double>(n)) * (random.below(2) == 0 ? 1 : -1);
            variances.variance(sum, size, n, eps);
            quotients.quotient(random.below(2) == 0 ? size : -size, n);
        }
        CHECK(means.first == "");
        CHECK(variances.first == "");
        CHECK(quotients.first == "");
        if (test_scale() >= 1) {
            CHECK(means.usual > 700000);
            CHECK(variances.usual > 300000);
        }
        CHECK(means.refused * 10000 <= means.usual);
        CHECK(quotients.refused * 100 <= quotients.usual); // those below 2^-126 have few digits, and often lie halfway
        // Of variances, those of which the correction takes at least half are left to the formula.
        CHECK(variances.refused * 3 < variances.usual * 2);
    }

    TEST_CASE("settle without a correction, or with one of less than half of the squares") {
        Random random(2);
        Tally tally;
        for (int i = 0; i < scaled(200000); ++i) {
            const std::int64_t n = some_n(random);
            const double squares = significand(random) * power(static_cast<int>(random.below(200)) - 40);
            const double share = static_cast<double>(random.below(499)) / 1000;
            tally.variance(std::sqrt(share * squares * static_cast<double>(n)), squares, n, 0);
        }
        CHECK(tally.first == "");
        CHECK(tally.refused * 10000 <= tally.usual);
    }

    TEST_CASE("of means that lie at the middle between two floats, or some ulps of f64 beside it") {
        Random random(3);
        Tally tally;
        for (int i = 0; i < scaled(50000); ++i) {
            const std::int64_t n = some_n(random);
            const double m = midpoint(random), scale = power(2 * static_cast<int>(random.below(30)) - 30);
            const double target = static_cast<double>(1 / (static_cast<long double>(m) * m)) * scale;
            const double eps = random.below(2) == 0 ? 0 : static_cast<double>(static_cast<float>(target / 3));
            const double sum = (target - eps) * static_cast<double>(n);
            for (int ulps = -4; ulps <= 4; ++ulps)
                tally.mean(stepped(sum, ulps), n, eps);
            for (int ulps = 8; ulps <= 128; ulps *= 2) { // where the bounds begin to settle
                tally.mean(stepped(sum, ulps + static_cast<int>(random.below(8))), n, eps);
                tally.mean(stepped(sum, -ulps - static_cast<int>(random.below(8))), n, eps);
            }
        }
        CHECK(tally.first == "");
        CHECK(tally.refused * 2 > tally.usual); // the middle and four ulps around it: nine of nineteen at least
        CHECK(tally.refused < tally.usual);
    }

    TEST_CASE("of variances that lie at the middle between two floats, or some ulps of f64 beside it") {
        Random random(4);
        Tally few, many; // by the share of the squares that the correction takes
        for (int i = 0; i < scaled(50000); ++i) {
            const std::int64_t n = some_n(random);
            const auto elements = static_cast<double>(n);
            const double m = midpoint(random);
            const auto target = static_cast<double>(1 / (static_cast<long double>(m) * m));
            const double eps = random.below(2) == 0 ? 0 : static_cast<double>(static_cast<float>(target / 5));
            constexpr double some[] = {0, 1e-9, 0.1, 0.3, 0.49, 0.4999999, 0.5, 0.5000001, 0.6, 0.9, 0.999};
            const double share = some[random.below(std::size(some))];
            const double squares = (target - eps) * elements / (1 - share);
            const double sum = std::sqrt(share * squares * elements);
            Tally &tally = share < 0.49999999 ? few : many;
            for (int ulps = -4; ulps <= 4; ++ulps) {
                tally.variance(sum, stepped(squares, ulps), n, eps);
                tally.variance(share > 0 ? stepped(sum, ulps) : 0, squares, n, eps);
                tally.variance(sum, stepped(squares, 16 * ulps), n, eps);
            }
        }
        CHECK(few.first == "");
        CHECK(many.first == "");
        CHECK(few.refused * 2 > few.usual);
        CHECK(few.refused < few.usual);
        CHECK(many.refused * 2 > many.usual);
    }

    TEST_CASE("of L2Norm, however eps is taken into account") {
        Random random(6);
        for (const rownorm_l2_eps mode :
             {ROWNORM_L2_EPS_MAX, ROWNORM_L2_EPS_ADD, ROWNORM_L2_EPS_INSIDE, ROWNORM_L2_EPS_CLAMP}) {
            Tally any, hard, near_eps, without_eps;
            for (int i = 0; i < scaled(50000); ++i) {
                const double eps = some_eps(random), m = midpoint(random);
                any.l2(mode, magnitude(random), eps < 1 ? eps : 0);
                without_eps.l2(mode, magnitude(random), 0);
                const auto target = static_cast<double>(1 / (static_cast<long double>(m) * m));
                for (int ulps = -4; ulps <= 4; ++ulps)
                    hard.l2(mode, stepped(target, 4 * ulps), 0);
                const double least = mode == ROWNORM_L2_EPS_MAX ? eps * eps : eps;
                for (int ulps = -4; least > 0x1p-1000 && ulps <= 4; ++ulps) {
                    near_eps.l2(mode, stepped(least, ulps), eps);
                    near_eps.l2(mode, stepped(least, ulps * 4096), eps);
                    near_eps.l2(mode, least * (1 + 0.002 * ulps), eps);
                }
            }
            for (const double sum : {0.0, 0x1p-100, 0x1p-99, infinity, nan_value})
                for (const double eps : {0.0, 1e-6, 1e30})
                    any.l2(mode, sum, eps);
            CHECK(any.first == "");
            CHECK(without_eps.first == "");
            CHECK(hard.first == "");
            CHECK(near_eps.first == "");
            if (mode == ROWNORM_L2_EPS_ADD) // left to the formula
                CHECK(without_eps.refused == without_eps.usual);
            else
                CHECK(without_eps.refused * 1000 <= without_eps.usual);
            CHECK(hard.refused * 2 > hard.usual);
        }
    }

    TEST_CASE("quotients that lie at the middle between two floats, or some ulps of f64 beside it") {
        Random random(5);
        Tally tally;
        for (int i = 0; i < scaled(100000); ++i) {
            const std::int64_t n = some_n(random);
            // Below 2^-126 floats have fewer digits: there a multiple of 2^-149 and a half.
            const double m = random.below(2) == 0
                                 ? midpoint(random) * power(static_cast<int>(random.below(200)) - 120)
                                 : (static_cast<double>(random.below(1 << (1 + random.below(22)))) + 0.5) * 0x1p-149;
            const double sum = m * static_cast<double>(n);
            for (int ulps = -4; ulps <= 4; ++ulps) {
                tally.quotient(stepped(sum, ulps), n);
                tally.quotient(-stepped(sum, ulps), n);
                tally.quotient(stepped(sum, 16 * ulps), n);
            }
        }
        CHECK(tally.first == "");
        CHECK(tally.refused * 2 > tally.usual);
        CHECK(tally.refused < tally.usual);
    }

    TEST_CASE("quotients that are zero, or hardly so, keep their sign") {
        Tally tally;
        for (const std::int64_t n : {1, 2, 3, 7, 64, 100, 255, 256, 1 << 20})
            for (const double sum : {0.0, 0x1p-149, 0x1p-150, 0x1.8p-150, 0x1p-151, 0x1.8p-149, 0x1p-126, 0x1p-127,
                                     0x1.fffffep127, 0x1.ffffffp127, infinity, nan_value}) {
                tally.quotient(sum, n);
                tally.quotient(-sum, n);
            }
        CHECK(tally.first == "");
        CHECK(same_bits(rownorm::f32_quotient(-0.0, rownorm::count_of(3)), -0.0F));
        CHECK(same_bits(rownorm::f32_quotient(0.0, rownorm::count_of(3)), 0.0F));
    }

    TEST_CASE("what f32 arithmetic does not hold is what the formulas say") {
        Tally tally;
        const double some[] = {0,    0x1p-1074, 0x1p-149, 0x1p-126, 0x1p-100, 0x1p-99,  0x1p-98,  1,
                               1e10, 0x1p127,   0x1p128,  0x1p150,  0x1p1000, 0x1p1023, infinity, nan_value};
        const auto around = [](double v, auto check) {
            for (int ulps = -40; ulps <= 40; ++ulps)
                if (v > 0x1p-1000 && rownorm::is_finite_number(v))
                    check(stepped(v, ulps));
            check(v);
        };
        for (const std::int64_t n : {1, 2, 3, 7, 64, 100, 255, 256, 1 << 20})
            for (const double v : some)
                for (const double eps : {0.0, 0x1p-149, 0x1p-101, 0x1p-100, 0x1p-99, 1e-6, 0x1.fffffep127})
                    around(v * static_cast<double>(n), [&](double squares) {
                        tally.mean(squares, n, eps);
                        for (const double share : {0.0, 0.25, 0.75, 1.0, 1.5})
                            tally.variance(std::sqrt(share * v) * static_cast<double>(n), squares, n, eps);
                        for (const double sum : {-1.0, 1e200, infinity, -infinity, nan_value})
                            tally.variance(sum, squares, n, eps);
                    });
        CHECK(tally.first == "");
        float factor = 0;
        CHECK(!rownorm::f32_root_of_mean(infinity, rownorm::count_of(4), 1e-6, factor));
        CHECK(!rownorm::f32_root_of_mean(nan_value, rownorm::count_of(4), 1e-6, factor));
        CHECK(!rownorm::f32_root_of_mean(0, rownorm::count_of(4), 0, factor));
        CHECK(!rownorm::f32_root_of_mean(4 * stepped(0x1p-100, -1), rownorm::count_of(4), 0, factor));
        CHECK(rownorm::f32_root_of_mean(4 * 0x1p-100, rownorm::count_of(4), 0, factor));
        CHECK(!rownorm::f32_root_of_variance(infinity, 1, rownorm::count_of(4), 1e-6, factor));
        CHECK(!rownorm::f32_root_of_variance(1, infinity, rownorm::count_of(4), 1e-6, factor));
        CHECK(!rownorm::f32_root_of_variance(4, 4, rownorm::count_of(4), 0, factor));
        CHECK(rownorm::f32_root_of_variance(4, 4, rownorm::count_of(4), 1e-6, factor));
    }
}
