// SPDX-License-Identifier: Apache-2.0
//
// Threads of the library, of the caller and of its executor: the bits of one thread.
#include "formats.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <thread>

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

/// All ways to run, on the default ISA and by 1, 2, 3 and 8 threads or parts.
void check_ways(const Case &c) {
    const Inputs in = make_inputs(c);
    Setup setup;
    const Outputs expected = run(c, in, setup);
    for (const How how : every_how)
        for (const std::uint32_t threads : {1U, 2U, 3U, 8U}) {
            setup.how = how;
            setup.threads = threads;
            setup.parts = static_cast<std::int64_t>(threads);
            if (const std::string text = difference(c, expected, run(c, in, setup)); !text.empty())
                report(c, setup, text);
        }
}

/// A row or two for which threads are to share each row, the places of the outputs in turn.
void check_shared_rows(const Case &c, Place y_place, Place residual_out_place) {
    const Inputs in = make_inputs(c);
    Setup setup;
    setup.y_place = y_place;
    setup.residual_out_place = residual_out_place;
    const Outputs expected = run(c, in, setup);
    setup.threads = 3;
    if (const std::string text = difference(c, expected, run(c, in, setup)); !text.empty())
        report(c, setup, text);
}

} // namespace

TEST_SUITE("threads") {
    TEST_CASE("rows so long that threads share them") {
        constexpr Place places[][2] = {
            {Place::own, Place::own}, {Place::over_x, Place::over_residual}, {Place::own, Place::nowhere}};
        std::uint64_t member = 0;
        constexpr Data data[] = {Data::normal, Data::offset, Data::huge};
        for (const Mix &mix : main_mixes())
            for (int formula = 0; formula < formulas; ++formula) {
                Case c = batch(mix, 1 + static_cast<std::int64_t>(member % 2), 1050000, formula);
                c.data = data[member / 2 % std::size(data)];
                c.residual = member % 4 != 0;
                const auto &place = places[member % std::size(places)];
                const bool same = mix.x == mix.y && mix.residual == mix.y;
                if (kept(++member))
                    check_shared_rows(c, same ? place[0] : Place::own,
                                      !c.residual ? Place::nowhere
                                      : same      ? place[1]
                                                  : Place::own);
            }
        CHECK(member == 6 * formulas);
    }

    TEST_CASE("every way to run, 1, 2, 3 and 8 threads or parts") {
        std::uint64_t member = 0;
        struct Shape {
            std::int64_t rows, n;
        };
        for (const Shape shape : {Shape{1, 100}, {2, 4096}, {7, 33}, {64, 4096}, {1000, 128}, {3, 65536}, {1, 300001}})
            for (const Mix &mix : main_mixes())
                for (int formula = 0; formula < formulas; ++formula)
                    if (kept(++member) && (formula < 3 || member % 3 == 0))
                        check_ways(batch(mix, shape.rows, shape.n, formula));
        CHECK(member == 7 * 6 * formulas);
    }

    TEST_CASE("one plan, used by eight threads at once") {
        const Case c = batch({}, 16, 1000, 0);
        const Inputs in = make_inputs(c);
        const Outputs expected = check(c, in).outputs;
        const rownorm_descriptor d = descriptor_of(c);
        const Plan plan(d);
        std::vector<std::vector<std::byte>> y(8, std::vector<std::byte>(expected.y.size()));
        std::vector<std::thread> threads;
        threads.reserve(y.size());
        for (std::vector<std::byte> &mine : y)
            threads.emplace_back([&] {
                rownorm_io io = rownorm_dense_io(&d, c.rows);
                io.x.data = in.x.data();
                io.residual.data = in.residual.data();
                io.w.data = in.w.data();
                io.b.data = in.b.data();
                io.y.data = mine.data();
                for (int i = 0; i < 50; ++i)
                    rownorm_execute(plan, &io);
            });
        for (std::thread &thread : threads)
            thread.join();
        for (const std::vector<std::byte> &mine : y)
            CHECK(difference(ROWNORM_F32, expected.y, mine, "y") == "");
    }
}
