// SPDX-License-Identifier: Apache-2.0
#include "known_faults.hpp"

using namespace rownorm_test;

namespace {

constexpr rownorm_type f32 = ROWNORM_F32, f16 = ROWNORM_F16, bf16 = ROWNORM_BF16, f64 = ROWNORM_F64;
constexpr double close = 4e-6;
constexpr long double infinity = std::numeric_limits<long double>::infinity();
constexpr long double not_a_number = std::numeric_limits<long double>::quiet_NaN();

const KnownRow sums_that_overflow[] = {
    {"squares pass the f32 range", rms, all_of(f32), 4096, 1e-5, {3e19L}, {}, {}, {1}, close},
    {"squares pass the f32 range, bf16", rms, all_of(bf16), 300, 1e-5, {1e25L}, {}, {}, {1}, 0},
    {"squares pass the f32 range, both signs",
     l2_max,
     all_of(f32),
     2,
     1e-12,
     {1e30L, -1e30L},
     {},
     {},
     {0.70710678L, -0.70710678L},
     close},
    {"centred squares pass the range", layer, all_of(f32), 64, 1e-5, {1e20L, 2e20L}, {}, {}, {-1, 1}, close},
    {"the difference to the mean passes the range",
     layer,
     all_of(f32),
     4,
     1e-5,
     {3e38L, -3e38L},
     {},
     {},
     {1, -1},
     close},
    {"the plain sum passes the range",
     layer,
     all_of(f32),
     4,
     1e-5,
     {3e38L, 3e38L, 1e38L, 1e38L},
     {},
     {},
     {1, 1, -1, -1},
     close},
    {"f16 squares would pass 65,504", rms, all_of(f16), 512, 1e-6, {300}, {}, {}, {1}, 1.5e-3},
    {"f16 squares would pass 65,504, mixed",
     rms,
     all_of(f16),
     3,
     0,
     {1000, -1000, 3},
     {},
     {},
     {1.2247394L, -1.2247394L, 0.0036742182L},
     1.5e-3},
    {"a f16 sum would pass 65,504", layer, all_of(f16), 2048, 1e-5, {100, 101}, {}, {}, {-0.99998L, 0.99998L}, 1.5e-3},
};

const KnownRow sums_that_underflow[] = {
    {"squares below the f32 range, L2Norm",
     l2_max,
     all_of(f32),
     2,
     0,
     {1e-30L, -1e-30L},
     {},
     {},
     {0.70710678L, -0.70710678L},
     close},
    {"squares below the f32 range", rms, all_of(f32), 33, 0, {1e-25L}, {}, {}, {1}, close},
    {"subnormal numbers are numbers", rms, all_of(f32), 16, 0, {1e-40L}, {}, {}, {1}, close},
    {"small next to large",
     rms,
     all_of(f32),
     8,
     1e-5,
     {1e-30L, 1e30L, 0, 0, 0, 0, 0, 0},
     {},
     {},
     {2.8284270911546886e-60L, 2.8284271247461903L, 0, 0, 0, 0, 0, 0},
     1},
    {"the smallest f16 subnormal", rms, all_of(f16), 8, 1e-12, {6e-8L}, {}, {}, {0.05949904694L}, 2e-3},
};

const KnownRow eps_faults[] = {
    {"a guard that scales the row must scale eps", rms, all_of(f32), 64, 1e-6, {0}, {}, {}, {0}, 0},
    {"eps of 1e-12 with f16: constant rows", layer, all_of(f16), 10, 1e-12, {0}, {}, {}, {0}, 0},
    {"eps of 1e-8 with f16: constant rows", layer, all_of(f16), 8, 1e-8, {3.5L}, {}, {}, {0}, 0},
    {"eps of 1e-12 with f16: zero rows", l2_max, all_of(f16), 8, 1e-12, {0}, {}, {}, {0}, 0},
    {"eps belongs outside the root here", l2_max, all_of(f32), 1, 1e-8, {3e-5L}, {}, {}, {1}, close},
    {"and inside the root here", l2_inside, all_of(f32), 1, 1e-8, {3e-5L}, {}, {}, {0.287347886L}, close},
    {"max with eps, not with its square",
     l2_max,
     all_of(f32),
     3,
     1e-6,
     {2e-7L, 2e-7L, 3.3e-7L},
     {},
     {},
     {0.2L, 0.2L, 0.33L},
     close},
    {"added to the norm", l2_add, all_of(f32), 2, 5, {3, 4}, {}, {}, {0.3L, 0.4L}, close},
    {"added to the sum of squares", l2_inside, all_of(f32), 2, 11, {3, 4}, {}, {}, {0.5L, 0.66666667L}, close},
    {"the larger of sum and eps under the root", l2_clamp, all_of(f32), 2, 100, {3, 4}, {}, {}, {0.3L, 0.4L}, close},
    {"the larger of sum and eps, eps the smaller", l2_clamp, all_of(f32), 2, 24, {3, 4}, {}, {}, {0.6L, 0.8L}, close},
    {"once, and inside the root", rms, all_of(f32), 4, 1, {1}, {}, {}, {0.70710678L}, close},
    {"once, and inside the root", layer, all_of(f32), 4, 3, {1, -1}, {}, {}, {0.5L, -0.5L}, close},
    {"eps does not follow the type", rms, all_of(bf16), 32, 1e-6, {0.058L}, {}, {}, {0.99985L}, 8e-3},
};

const KnownRow constant_rows[] = {
    {"constant row", layer, all_of(f32), 256, 1e-5, {1234}, {}, {}, {0}, 0},
    {"constant row, large", layer, all_of(f32), 5, 1e-12, {1e30L}, {}, {}, {0}, 0},
    {"constant row, large weight and a bias", layer, all_of(f32), 257, 1e-5, {0.1L}, {1e6L}, {7}, {7}, 0},
    {"one element: its mean is itself", layer, all_of(f64), 1, 0.1, {-3}, {1e10L}, {-1}, {-1}, 0},
    {"one element", rms, all_of(f32), 1, 1e-5, {5}, {}, {}, {0.9999998L}, close},
    {"one element, negative", rms, all_of(f32), 1, 1e-5, {-2}, {}, {}, {-0.99999875L}, close},
    {"one element, small", rms, all_of(f32), 1, 1e-5, {1e-30L}, {}, {}, {3.16227767e-28L}, close},
};

const KnownRow weights[] = {
    {"1 + w formed in the weight's type", rms, {bf16, bf16, f32, bf16}, 2, 0, {1}, {15.8125L}, {}, {16.8125L}, 0, 1},
    {"1 added though it was not asked for", rms, all_of(f32), 2, 0, {1}, {2}, {}, {2}, 0},
    {"a large weight overflows f16: infinity, no NaN, neighbours right",
     rms,
     all_of(f16),
     4,
     0,
     {1},
     {65504, 1, -65504, 0},
     {},
     {65504, 1, -65504, 0},
     0},
    {"where f16 overflows",
     rms,
     {f16, f16, f16, f32},
     4,
     0,
     {1},
     {65519, 65520, 65504, -65520},
     {},
     {65504, infinity, 65504, -infinity},
     0},
    {"ties to even, and overflow of bf16",
     rms,
     {f32, f32, bf16, f32},
     4,
     0,
     {1},
     {1.00390625L, 1.01171875L, 3.4028234e38L, -1.00390625L},
     {},
     {1, 1.015625L, infinity, -1},
     0},
    {"weight without bias",
     layer,
     all_of(f32),
     4,
     0,
     {1, 2, 3, 4},
     {2},
     {},
     {-2.68328157L, -0.89442719L, 0.89442719L, 2.68328157L},
     close},
    {"bias without weight",
     layer,
     all_of(f32),
     4,
     0,
     {1, 2, 3, 4},
     {},
     {10, 20, 30, 40},
     {8.6583592L, 19.5527864L, 30.4472136L, 41.3416408L},
     close},
    {"f32 weight read as f16", rms, {f16, f16, f16, f32}, 8, 0, {1, -1}, {1.5L}, {}, {1.5L, -1.5L}, 0},
    {"f16 weight read as bf16", rms, {bf16, bf16, bf16, f16}, 8, 0, {1, -1}, {1.5L}, {}, {1.5L, -1.5L}, 0},
    {"applied twice: unseen with unit weights", rms, all_of(f32), 4, 0, {2}, {1, 2, 3, 4}, {}, {1, 2, 3, 4}, 0},
};

const KnownRow partial_rows[] = {
    {"divided by n, not by k",
     partial,
     all_of(f32),
     4,
     0,
     {3, 4, 1000, 1000},
     {},
     {},
     {0.848528137L, 1.13137085L, 282.842712L, 282.842712L},
     close,
     0,
     2},
    {"the part that is measured is the first one",
     partial,
     all_of(f32),
     4,
     0,
     {2, 1, 1, 1},
     {},
     {},
     {1, 0.5L, 0.5L, 0.5L},
     0,
     0,
     1},
    {"NaN behind the part",
     partial,
     all_of(f32),
     4,
     0,
     {1, 1, not_a_number, 1},
     {},
     {},
     {1, 1, not_a_number, 1},
     0,
     0,
     2},
};

const KnownRow infinities[] = {
    {"infinity in a row", rms, all_of(f32), 4, 1e-5, {infinity, 1, 1, 1}, {}, {}, {not_a_number, 0, 0, 0}, 0},
    {"infinity in a row", layer, all_of(f32), 4, 1e-5, {infinity, 1, 1, 1}, {}, {}, {not_a_number}, 0},
};

void check_table(const KnownRow *begin, const KnownRow *end) {
    for (const KnownRow *row = begin; row != end; ++row)
        check_known(*row);
}

} // namespace

TEST_SUITE("known faults") {
    TEST_CASE("sums that overflow") { check_table(std::begin(sums_that_overflow), std::end(sums_that_overflow)); }
    TEST_CASE("sums that underflow") { check_table(std::begin(sums_that_underflow), std::end(sums_that_underflow)); }
    TEST_CASE("eps in the wrong place, of the wrong type or twice") {
        check_table(std::begin(eps_faults), std::end(eps_faults));
    }
    TEST_CASE("constant rows and rows of one element") {
        check_table(std::begin(constant_rows), std::end(constant_rows));
    }
    TEST_CASE("gains and biases") { check_table(std::begin(weights), std::end(weights)); }
    TEST_CASE("partial statistics") { check_table(std::begin(partial_rows), std::end(partial_rows)); }
    TEST_CASE("infinities") { check_table(std::begin(infinities), std::end(infinities)); }
}
