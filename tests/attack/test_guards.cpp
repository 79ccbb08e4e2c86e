// SPDX-License-Identifier: Apache-2.0
//
// Pages that fault right before or behind the arguments that the suites of the kit leave unguarded: the statistics, and
// batches large enough for streaming stores and the fetching of rows to come. One-line calls: test_one_line_guards.cpp.
#include "../formats.hpp"
#include "../run.hpp"

#include <doctest/doctest.h>

using namespace rownorm_test;

namespace {

Case layer(const Mix &mix, std::int64_t rows, std::int64_t n) {
    Case c;
    c.mix = mix;
    c.op = ROWNORM_LAYER_NORM;
    c.rows = rows;
    c.n = n;
    c.eps = 1e-5;
    c.seed = static_cast<std::uint64_t>(n);
    return c;
}

void check_statistics(const Case &c, Guard guard, const std::string &isa) {
    const Inputs in = make_inputs(c);
    const Outputs expected = run(c, in);
    Memory mean(expected.mean.size(), guard), rstd(expected.rstd.size(), guard);
    std::vector<std::byte> y(expected.y.size());
    rownorm_descriptor d = descriptor_of(c);
    d.isa = isa.c_str();
    rownorm_io io = rownorm_dense_io(&d, c.rows);
    io.x.data = in.x.data();
    io.y.data = y.data();
    io.mean = mean.data();
    io.rstd = rstd.data();
    const Plan plan(d);
    REQUIRE(rownorm_execute(plan, &io) == ROWNORM_OK);
    CHECK(difference(statistic_type(c), expected.mean, mean.bytes(), "mean") == "");
    CHECK(difference(statistic_type(c), expected.rstd, rstd.bytes(), "rstd") == "");
}

/// Every argument with its own guard; x and residual aligned as streaming asks for where they begin at a page.
void check_large(Case c, Guard guard) {
    Setup setup;
    for (Placement *p : {&setup.x, &setup.residual, &setup.w, &setup.b, &setup.residual_out, &setup.y})
        p->guard = guard;
    setup.read_only = true;
    const std::int64_t elements = 64 / static_cast<std::int64_t>(size_of(c.mix.y));
    setup.y.row_gap = (elements - c.n % elements) % elements; // rows of y at multiples of 64 bytes
    const Inputs in = make_inputs(c);
    const Outputs expected = run(c, in);
    for (const std::uint32_t threads : {1U, 4U}) {
        setup.threads = threads;
        check_same_bits(c, in, setup, expected);
    }
}

} // namespace

TEST_SUITE("attack: guards") {
    TEST_CASE("mean and rstd, for 1 to 40 rows of every length class") {
        for (const Mix &mix : {all_of(ROWNORM_F32), all_of(ROWNORM_BF16), all_of(ROWNORM_F64)})
            for (std::int64_t rows = 1; rows <= 40; ++rows)
                for (const std::int64_t n : {3, 65, 300})
                    for (const Guard guard : both_ends)
                        for (const std::string &isa : isas())
                            if (kept(static_cast<std::uint64_t>(rows * n)))
                                check_statistics(layer(mix, rows, n), guard, isa);
    }

    TEST_CASE("batches beyond the last cache, in even and odd lengths") {
        // 40 MiB and more each: half of a third-level cache of 64 MiB is passed.
        for (const std::int64_t n : {1024, 1023}) {
            Case c = layer(all_of(ROWNORM_F32), 5200, n);
            c.gain = true;
            for (const Guard guard : both_ends)
                check_large(c, guard);
            c.op = ROWNORM_RMS_NORM;
            c.mix = {ROWNORM_BF16, ROWNORM_F32, ROWNORM_F32, ROWNORM_F32};
            c.rows = 4200;
            c.residual = true;
            for (const Guard guard : both_ends)
                check_large(c, guard);
        }
    }
}
