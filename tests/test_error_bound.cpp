// SPDX-License-Identifier: Apache-2.0
//
// How far results are from exact ones: the proven bound on rows built against it, the measured figures
// on ordinary rows. The unit is one ulp of f32 (f64 for f64 rows) at |t*w'| + |b|.
#include "formats.hpp"
#include "random.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace rownorm_test;

namespace {

constexpr Data ordinary[] = {Data::constant, Data::normal, Data::offset, Data::lognormal, Data::massive};

Case plain(int formula, std::int64_t n, Data data, const Mix &mix = {}) {
    Case c;
    c.mix = mix;
    c.n = n;
    c.rows = n > 2000 ? 2 : 8;
    set_formula(c, formula);
    c.data = data;
    c.seed = static_cast<std::uint64_t>(n) * 10 + static_cast<std::uint64_t>(data);
    return c;
}

double worst(int formula, Data data, const Mix &mix, bool affine) {
    double error = 0;
    const std::int64_t longest = test_scale() < 1 ? 1100 : 65536;
    for (const std::int64_t n : {1, 3, 16, 64, 100, 128, 576, 1024, 1025, 4096, 8192, 65536}) {
        if (n > longest)
            continue;
        Case c = plain(formula, n, data, mix);
        c.gain = c.bias = affine;
        error = std::max(error, check(c).worst_ulp);
    }
    return error;
}

/// A row whose sums lose the most: each lane holds 1 and then only ever meets squares just under half
/// an ulp of it, each of which is lost.
std::vector<long double> losing_row(std::size_t n, long double scale) {
    std::vector<long double> row(n, scale * (std::ldexp(1.0L, -12) - std::ldexp(1.0L, -36)));
    for (std::size_t chunk = 0; chunk < n; chunk += 1024)
        std::fill(row.begin() + static_cast<std::ptrdiff_t>(chunk),
                  row.begin() + static_cast<std::ptrdiff_t>(std::min(chunk + 64, n)), scale);
    return row;
}

/// The largest over scales of the row: the roundings after the sum fall differently.
double worst_of_losing_rows(int formula, std::size_t n, bool gain) {
    double error = 0;
    const int steps = std::max(scaled(n > 4096 ? 8 : 40), 2);
    for (int step = 0; step < steps; ++step) {
        Case c = plain(formula, static_cast<std::int64_t>(n), Data::normal);
        c.rows = 1;
        c.eps = 0;
        c.gain = gain;
        c.seed = static_cast<std::uint64_t>(step);
        Inputs in = make_inputs(c);
        in.x = elements(ROWNORM_F32, losing_row(n, std::ldexp(1.0L + step / 40.0L, step % 7 - 3)));
        error = std::max(error, check(c, in).worst_ulp);
    }
    return error;
}

/// A row that repeats a few values, so that each lane adds the same one again and again, with two elements
/// near its mean, where an error of the mean shows most.
double worst_of_periodic_row(rownorm_type type, std::int64_t period, std::uint64_t seed) {
    Random random(seed * 64 + static_cast<std::uint64_t>(period));
    std::vector<long double> x(1025);
    long double mean = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = i < static_cast<std::size_t>(period) ? round_to(type, static_cast<long double>(random.normal()))
                                                    : x[i - static_cast<std::size_t>(period)];
        mean += x[i] / static_cast<long double>(x.size());
    }
    x[random.below(x.size())] = round_to(type, mean);
    x[random.below(x.size())] = round_to(type, mean * 1.0001L);
    Case c = plain(2, static_cast<std::int64_t>(x.size()), Data::normal, all_of(type));
    c.rows = 1;
    c.eps = 0;
    c.seed = seed;
    return check(c, Inputs{elements(type, x), {}, {}, {}}).worst_term;
}

} // namespace

TEST_SUITE("error bound") {
    TEST_CASE("rows built against the bound come near it and stay within 12 ulp") {
        for (const int formula : {0, 3, 5, 6})
            for (const bool gain : {false, true})
                for (const std::size_t n : {1024U, 4096U, 65536U}) {
                    const double error = worst_of_losing_rows(formula, n, gain);
                    CAPTURE(formula);
                    CAPTURE(n);
                    CHECK(error <= proven_ulp);
                    if (test_scale() >= 1)
                        CHECK(error > 6); // the rows do what they were built for
                }
    }

    TEST_CASE("RMSNorm and L2Norm without gain: at most 3 ulp on ordinary rows") {
        for (const int formula : {0, 1, 3, 4, 5, 6})
            for (const Data data : ordinary) {
                const double error = worst(formula, data, {}, false);
                CAPTURE(formula);
                CAPTURE(std::string(name_of(data)));
                CHECK(error <= 3);
                CHECK(error > 0.25);
            }
    }

    TEST_CASE("LayerNorm: 12 ulp and at most 2 * 2^-24 on ordinary rows, 10 on rows built against it") {
        for (const rownorm_type type : {ROWNORM_F32, ROWNORM_F64}) {
            double ordinary_term = 0, periodic_term = 0;
            for (const Data data : every_data)
                for (const std::int64_t n : {2, 5, 64, 100, 384, 768, 1025, 4096, test_scale() < 1 ? 4097 : 65536})
                    ordinary_term = std::max(ordinary_term, check(plain(2, n, data, all_of(type))).worst_term);
            for (int seed = 0; seed < scaled(100); ++seed)
                for (const std::int64_t period : {2, 3, 16, 32, 64})
                    periodic_term =
                        std::max(periodic_term, worst_of_periodic_row(type, period, static_cast<std::uint64_t>(seed)));
            CHECK(ordinary_term <= 2);
            CHECK(periodic_term <= measured_layer_term);
            if (test_scale() >= 1)
                CHECK(periodic_term > 2); // the rows do what they were built for
        }
    }

    TEST_CASE("gain and bias") {
        for (int formula = 0; formula < formulas; ++formula)
            for (const Data data : ordinary)
                worst(formula, data, {}, true);
    }

    TEST_CASE("f64 rows: at most 6 ulp of f64 on ordinary rows") {
        for (const int formula : {0, 1, 3, 4, 5, 6})
            for (const Data data : ordinary) {
                CAPTURE(formula);
                CAPTURE(std::string(name_of(data)));
                CHECK(worst(formula, data, all_of(ROWNORM_F64), false) <= 6);
            }
    }
}
