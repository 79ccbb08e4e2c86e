// SPDX-License-Identifier: Apache-2.0
//
// One row, one descriptor, one set of bits: whatever the batch around it, the number of parts, and what
// else is asked for. Threads have a file of their own.
#include "formats.hpp"
#include "random.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

using namespace rownorm_test;

namespace {

Case batch(const Mix &mix, std::int64_t rows, std::int64_t n, int formula) {
    Case c;
    c.mix = mix;
    c.rows = rows;
    c.n = n;
    set_formula(c, formula);
    c.gain = true;
    c.bias = formula % 2 == 0;
    c.residual = formula < 3;
    c.eps = 1e-5;
    c.seed = static_cast<std::uint64_t>(rows * 31 + n);
    return c;
}

std::vector<std::byte> slice(const std::vector<std::byte> &rows, std::int64_t row, std::int64_t count) {
    if (rows.empty())
        return {};
    const std::size_t bytes = rows.size() / static_cast<std::size_t>(count);
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(bytes) * row;
    return {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
}

Outputs row_of(const Outputs &all, std::int64_t row, std::int64_t rows) {
    return {slice(all.y, row, rows), slice(all.residual_out, row, rows), slice(all.mean, row, rows),
            slice(all.rstd, row, rows)};
}

/// Rows of a batch against the same rows alone.
void check_rows_alone(const Case &c, const std::string &isa) {
    Setup setup;
    setup.isa = isa.c_str();
    const Inputs in = make_inputs(c);
    const Outputs all = run(c, in, setup);
    if (all.y.empty())
        return;
    Case one = c;
    one.rows = 1;
    for (const std::int64_t row : {std::int64_t{0}, c.rows / 3, c.rows / 2, c.rows - 2, c.rows - 1}) {
        const std::int64_t r = row < 0 ? 0 : row;
        const Inputs alone{slice(in.x, r, c.rows), slice(in.residual, r, c.rows), in.w, in.b};
        const std::string text = difference(one, row_of(all, r, c.rows), run(one, alone, setup));
        if (!text.empty())
            report(c, setup, "row " + std::to_string(r) + " has other bits alone: " + text);
    }
}

} // namespace

TEST_SUITE("same bits") {
    TEST_CASE("a row alone and in a batch, at any position") {
        std::uint64_t member = 0;
        for (const std::string &isa : isas())
            for (const std::int64_t rows : {1, 2, 3, 17, 255, 256, 257, 1024})
                for (const std::int64_t n : {1, 5, 64, 83, 128, 200, 256, 300, 1024, 4096})
                    for (const Mix &mix : main_mixes()) {
                        const int formula = static_cast<int>(++member % formulas);
                        if (rows * n <= 70000 && kept(member))
                            check_rows_alone(batch(mix, rows, n, formula), isa);
                    }
    }

    TEST_CASE("1,024 rows of 4,096") {
        if (test_scale() >= 1)
            for (const std::string &isa : isas())
                check_rows_alone(batch({}, 1024, 4096, 0), isa);
    }

    TEST_CASE("more parts than rows, and any number of them") {
        const Case c = batch({}, 5, 77, 2);
        const Inputs in = make_inputs(c);
        const Outputs expected = check(c, in).outputs;
        for (std::int64_t parts = 1; parts <= 12; ++parts) {
            Setup setup;
            setup.how = How::parts;
            setup.parts = parts;
            check_same_bits(c, in, setup, expected);
        }
    }

    TEST_CASE("with and without statistics, residual_out, and the caller's plan memory") {
        for (const Mix &mix : main_mixes())
            for (int formula = 0; formula < formulas; ++formula)
                for (const std::int64_t n : {1, 67, 256, 1500}) {
                    const Case c = batch(mix, 21, n, formula);
                    const Inputs in = make_inputs(c);
                    const Outputs expected = check(c, in).outputs;
                    Setup setup;
                    setup.statistics = false;
                    check_same_bits(c, in, setup, expected);
                    setup.residual_out_place = Place::nowhere;
                    setup.caller_memory = true;
                    check_same_bits(c, in, setup, expected);
                }
    }

    TEST_CASE("the default ISA gives the bits of the exact ones") {
        const Case c = batch({}, 9, 1030, 2);
        const Inputs in = make_inputs(c);
        const Setup setup;
        CHECK(difference(c, check(c, in).outputs, run(c, in, setup)) == "");
    }
}
