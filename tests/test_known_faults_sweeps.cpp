// SPDX-License-Identifier: Apache-2.0
//
// Known faults whose kind is a sweep: rows of one value at every length, long rows, a spike, p as a
// share, rounding before the weight.
#include "known_faults.hpp"
#include "random.hpp"

using namespace rownorm_test;

namespace {

Values check_row(const Case &c, const Values &x, const Values &w = {}) {
    return values_of(c.mix.y, check(c, Inputs{elements(c.mix.x, x), {}, elements(c.mix.weight, w), {}}).outputs.y);
}

Case plain(int formula, std::int64_t n, double eps, const Mix &mix = {}) {
    Case c;
    c.mix = mix;
    c.n = n;
    set_formula(c, formula);
    c.eps = eps;
    return c;
}

/// offset + scale * u, u from a 64-bit congruential generator's upper 24 bits.
Values congruential(std::uint64_t seed, long double scale, long double offset, std::size_t n) {
    Values values;
    for (std::uint64_t s = seed; values.size() < n;) {
        s = s * 6364136223846793005ULL + 1442695040888963407ULL;
        const long double u = static_cast<long double>(s >> 40) / 16777216.0L;
        values.push_back(offset + scale * (2 * u - 1));
    }
    return values;
}

} // namespace

TEST_SUITE("known faults") {
    TEST_CASE("body and tail round alike: a row of one value gives one value") {
        for (const Mix &mix : main_mixes())
            for (std::int64_t n = 1; n <= 130; ++n)
                for (const int formula : {0, 3, 5})
                    for (const long double value : {0.3L, 0.7L, 1234.5L}) {
                        if (!kept(static_cast<std::uint64_t>(n)))
                            continue;
                        const Values y =
                            check_row(plain(formula, n, 1e-6, mix), Values(static_cast<std::size_t>(n), value));
                        CHECK(std::all_of(y.begin(), y.end(), [&](long double v) { return v == y[0]; }));
                    }
    }

    TEST_CASE("no root estimate: rows of one value give 1 within an ulp") {
        for (const std::int64_t n : {1, 7, 33, 64, 100, 130})
            for (int i = 0; i < scaled(200); ++i) {
                Random random(static_cast<std::uint64_t>(i));
                const long double value = round_to(
                    ROWNORM_F32, std::ldexp(1.0L + static_cast<long double>(random.uniform()) / 2, i % 40 - 20));
                for (const long double v : check_row(plain(0, n, 0), Values(static_cast<std::size_t>(n), value)))
                    CHECK(std::fabs(v - 1) <= 1.3e-7L);
            }
    }

    TEST_CASE("long rows do not drift") {
        for (const std::int64_t n : {100000, 131073, test_scale() < 1 ? 131072 : 1 << 20})
            for (const long double value : check_row(plain(0, n, 0), Values(static_cast<std::size_t>(n), 0.1L)))
                REQUIRE(std::fabs(value - 1) <= 1e-6L);
        Values spike(131073, 1);
        spike.back() = 4096;
        CHECK(static_cast<double>(check_row(plain(0, 131073, 0), spike)[0]) ==
              doctest::Approx(0.0880454).epsilon(1e-6));
    }

    TEST_CASE("a row of 2^24 + 1 elements, a length that f32 cannot hold") {
        if (test_scale() < 1)
            return;
        std::vector<float> x(16777217, 1.0F), y(x.size(), 7.0F);
        const auto n = static_cast<std::int64_t>(x.size());
        REQUIRE(rownorm_layer_norm_f32(y.data(), x.data(), nullptr, nullptr, 1, n, 1e-5F) == ROWNORM_OK);
        CHECK(std::all_of(y.begin(), y.end(), [](float v) { return v == 0; }));
        REQUIRE(rownorm_rms_norm_f32(y.data(), x.data(), nullptr, 1, n, 0) == ROWNORM_OK);
        CHECK(std::all_of(y.begin(), y.end(), [](float v) { return v == 1; }));
    }

    TEST_CASE("one large element: the others keep their share and eps its size") {
        for (const Mix &mix : {Mix{}, all_of(ROWNORM_F64)})
            for (const std::int64_t at : {0, 7, 500, 1023}) {
                Values x(1024, 1);
                x[static_cast<std::size_t>(at)] = 1000;
                const Values y = check_row(plain(0, 1024, 0.1, mix), x);
                CHECK(static_cast<double>(y[at == 0 ? 1 : 0]) == doctest::Approx(0.03198200878).epsilon(1e-6));
            }
    }

    TEST_CASE("a share p: at least one element, and 0.07 of 100 is 7") {
        struct Share {
            std::int64_t n;
            double p;
            std::int64_t k;
        };
        for (const Share s : {Share{8, 0.0625, 1},
                              {100, 0.07, 7},
                              {100, 0.29, 29},
                              {1000, 0.001, 1},
                              {4096, 0.25, 1024},
                              {10, 0.91, 10},
                              {3, 0.34, 2},
                              {100, 0.57, 57},
                              {7, 1, 7}}) {
            Case share = plain(0, s.n, 1e-5), count = share;
            share.p = s.p;
            count.k = s.k;
            const Inputs in = make_inputs(share);
            CHECK(difference(share, check(count, in).outputs, check(share, in).outputs) == "");
        }
    }

    TEST_CASE("f16: one element left over for 16,384, with a weight of 1,000") {
        Values x(16384, 0);
        x[0] = 1;
        Case c = plain(0, 16384, 0, all_of(ROWNORM_F16));
        c.gain = true;
        const Values y = check_row(c, x, Values(16384, 1000));
        CHECK(std::isinf(y[0]));
        CHECK(std::count(y.begin() + 1, y.end(), 0) == 16383);
    }

    TEST_CASE("rounding before the weight (Llama) and after (Gemma) are two things") {
        const Values x = congruential(1, 3, 0, 8), w = congruential(1001, 1, 1.5L, 8);
        const std::uint16_t before[] = {0xbf04, 0x3d34, 0x3fb1, 0xbea8, 0x4024, 0x3b06, 0x3eae, 0xc052};
        const std::uint16_t after[] = {0xbf04, 0x3d34, 0x3fb1, 0xbea7, 0x4024, 0x3b07, 0x3eae, 0xc051};
        for (const bool llama : {true, false}) {
            Case c = plain(0, 8, 1e-6, all_of(ROWNORM_BF16));
            c.gain = true;
            c.round = llama ? ROWNORM_ROUND_TO_BF16 : ROWNORM_ROUND_ONCE;
            const Inputs in{elements(ROWNORM_BF16, x), {}, elements(ROWNORM_BF16, w), {}};
            const std::vector<std::byte> y = check(c, in).outputs.y;
            std::vector<std::byte> golden(16);
            std::copy_n(reinterpret_cast<const std::byte *>(llama ? before : after), 16, golden.begin());
            CHECK(difference(ROWNORM_BF16, golden, y, "y") == "");
        }
    }

    TEST_CASE("pad lanes in the variance: known rows near 50") {
        const Values y = check_row(plain(2, 5, 1e-5), congruential(41, 1, 50, 5));
        const double expected[] = {-1.053848171706591, 1.5314959317152366, -0.4164658226310196, 0.7965645390007277,
                                   -0.8577464763783537};
        for (std::size_t i = 0; i < 5; ++i)
            CHECK(static_cast<double>(y[i]) == doctest::Approx(expected[i]).epsilon(1e-4));
    }
}
