// SPDX-License-Identifier: Apache-2.0
//
// Batches that do not fit into the caches, where a library stores and fetches in other ways: the same
// bits as the same rows one at a time.
#include "formats.hpp"
#include "random.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <unistd.h>

using namespace rownorm_test;

namespace {

/// More than the last-level cache, within what a small machine has; a cache of a large server is shared.
std::int64_t large_bytes() {
    const std::int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return std::min<std::int64_t>(std::max<std::int64_t>(cache, 16 << 20) * 5 / 4, 60 << 20);
}

/// Rows from few distinct ones, so that they need not all be made.
std::vector<std::byte> many_rows(rownorm_type type, std::int64_t rows, std::int64_t n, std::uint64_t seed) {
    Case c;
    c.mix = all_of(type);
    c.rows = 37;
    c.n = n;
    c.seed = seed;
    const std::vector<std::byte> few = make_inputs(c).x;
    const std::size_t row = few.size() / 37;
    std::vector<std::byte> all(static_cast<std::size_t>(rows) * row);
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r)
        std::memcpy(&all[r * row], &few[r % 37 * row], row);
    return all;
}

/// A batch of x and y beyond the caches: in one call, and by single rows.
void check_large(const Mix &mix, int formula, std::int64_t n, bool residual, std::uint32_t threads) {
    Case c;
    c.mix = mix;
    c.n = n;
    c.rows = large_bytes() / (n * static_cast<std::int64_t>(size_of(mix.x) + size_of(mix.y))) + 1;
    set_formula(c, formula);
    c.gain = true;
    c.bias = formula == 2;
    c.residual = residual;
    Inputs in;
    in.x = many_rows(mix.x, c.rows, n, 1);
    if (residual)
        in.residual = many_rows(mix.residual, c.rows, n, 2);
    Case weights = c;
    weights.rows = 1;
    weights.residual = false;
    in.w = make_inputs(weights).w;
    in.b = make_inputs(weights).b;
    Setup one_by_one, at_once;
    one_by_one.how = How::parts;
    one_by_one.parts = c.rows;
    at_once.threads = threads;
    at_once.y.offset = n % 2; // stores around the caches want aligned addresses: odd n has both
    check_same_bits(c, in, at_once, run(c, in, one_by_one));
}

} // namespace

TEST_SUITE("same bits") {
    TEST_CASE("batches larger than the caches") {
        if (test_scale() < 1)
            return;
        for (const Mix &mix : main_mixes()) {
            check_large(mix, 0, 4096, false, 1);
            check_large(mix, 2, 5125, mix.y != mix.x, 2);
        }
        check_large({}, 0, 2048, true, 2);
        check_large({}, 0, 128, false, 2);
        check_large(all_of(ROWNORM_BF16), 2, 16384, true, 1);
    }
}
