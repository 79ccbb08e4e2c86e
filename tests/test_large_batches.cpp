// SPDX-License-Identifier: Apache-2.0
//
// Batches that do not fit into the caches, where a library stores and fetches in other ways: the same
// bits as for the same rows in a small batch.
#include "formats.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>

using namespace rownorm_test;

namespace {

/// Four times the last-level cache of the machine that the library takes this one for (main.cpp), as some ways begin at
/// three.
std::int64_t large_bytes() {
    const char *const machine = std::getenv("ROWNORM_MACHINE");
    const char *const l3 = machine ? std::strstr(machine, "l3=") : nullptr;
    REQUIRE(l3 != nullptr);
    return (std::int64_t{4} << 20) * std::atoi(l3 + 3);
}

constexpr std::int64_t distinct = 37;

/// The rows of a small batch, over and over.
std::vector<std::byte> repeated(const std::vector<std::byte> &few, std::int64_t rows) {
    const std::size_t row = few.size() / distinct;
    std::vector<std::byte> many(static_cast<std::size_t>(rows) * row);
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows) && row != 0; ++r)
        std::memcpy(&many[r * row], &few[r % distinct * row], row);
    return many;
}

/// A batch of x and y beyond the caches has the bits of a small one.
void check_large(const Mix &mix, int formula, std::int64_t n, bool residual, std::uint32_t threads,
                 std::int64_t y_offset = 0, bool statistics = true) {
    Case few;
    few.mix = mix;
    few.rows = distinct;
    few.n = n;
    set_formula(few, formula);
    few.gain = true;
    few.bias = formula == 2;
    few.residual = residual;
    few.seed = static_cast<std::uint64_t>(n);
    const Inputs in = make_inputs(few);
    const Outputs out = check(few, in).outputs;
    Case many = few;
    many.rows = large_bytes() / (n * static_cast<std::int64_t>(size_of(mix.x) + size_of(mix.y))) + 1;
    const Inputs large{repeated(in.x, many.rows), repeated(in.residual, many.rows), in.w, in.b};
    const Outputs expected{repeated(out.y, many.rows), repeated(out.residual_out, many.rows),
                           repeated(out.mean, many.rows), repeated(out.rstd, many.rows)};
    Setup setup;
    setup.threads = threads;
    setup.y.offset = y_offset;
    setup.statistics = statistics;
    check_same_bits(many, large, setup, expected);
}

} // namespace

TEST_SUITE("same bits") {
    TEST_CASE("batches larger than the caches") {
        if (test_scale() < 1)
            return;
        for (const Mix &mix : main_mixes()) {
            check_large(mix, 0, 4096, false, 1); // aligned to cache lines: y may go around the caches
            check_large(mix, 2, 5125, mix.y != mix.x, 2);
        }
        check_large({}, 0, 2048, true, 2);
        check_large({}, 0, 4096, false, 1, 1);
        check_large({}, 0, 128, false, 2);
        check_large(all_of(ROWNORM_BF16), 2, 16384, true, 1);
        check_large(all_of(ROWNORM_F16), 2, 4128, false, 2);
        check_large({}, 2, 4096, false, 2); // f32 and adds of 16 bits: the next row is fetched in an earlier pass
        check_large({}, 0, 7168, false, 1);
        check_large(all_of(ROWNORM_F16), 0, 2080, true, 1);
        check_large(all_of(ROWNORM_BF16), 0, 8224, true, 2);
        check_large(all_of(ROWNORM_F16), 2, 512, true, 1);
        check_large({ROWNORM_BF16, ROWNORM_F32, ROWNORM_BF16, ROWNORM_BF16}, 0, 4096, true, 1); // a sum of another type
    }

    TEST_CASE("batches of short rows larger than the caches, without statistics") {
        if (test_scale() < 1)
            return;
        check_large({}, 3, 512, false, 1, 0, false);
        check_large({}, 0, 256, true, 2, 1, false);
        check_large({ROWNORM_BF16, ROWNORM_BF16, ROWNORM_BF16, ROWNORM_F32}, 2, 1024, false, 1, 0, false);
    }
}
