// SPDX-License-Identifier: Apache-2.0
//
// The host's floating-point state neither matters nor changes: flush to zero, denormals are zero, every
// rounding mode, unmasked traps; on the calling thread and on the threads of an executor.
#include "arguments.hpp"
#include "fp_state.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstring>
#include <thread>

using namespace rownorm_test;

namespace {

struct Executor {
    std::uint64_t bits;
    std::atomic<int> changed{0}, tasks{0};
};

/// Every task on a thread of its own, in the state that the executor names.
int run_in_state(void *context, std::size_t tasks, rownorm_task_fn task, void *task_context) {
    auto &executor = *static_cast<Executor *>(context);
    for (std::size_t i = 0; i < tasks; ++i)
        std::thread([&, i] {
            std::uint64_t taken = 0;
            const std::uint64_t after = in_fp_state(executor.bits, taken, [&] { task(task_context, i); });
            executor.changed += after != taken;
            ++executor.tasks;
        }).join();
    return 0;
}

enum class Way { execute, part, executor };

/// One call in a state; a fault if the state was changed or the bits are not the expected ones.
void check_in_state(const Case &c, const Inputs &in, const Outputs &expected, const FpState &state, Way way,
                    const std::string &isa) {
    Setup setup;
    setup.isa = isa.c_str();
    Arguments arguments(c, in, setup);
    rownorm_descriptor d = descriptor_of(c);
    d.isa = setup.isa;
    const rownorm_io io = arguments.io();
    const Plan plan(d);
    Executor executor{state.bits};
    rownorm_status status = ROWNORM_OK;
    std::uint64_t taken = 0;
    const int rounding = std::fegetround();
    const std::uint64_t after = in_fp_state(state.bits, taken, [&] {
        if (way == Way::execute)
            status = rownorm_execute(plan, &io);
        else if (way == Way::part)
            status = rownorm_execute_part(plan, &io, 0, 1);
        else
            status = rownorm_execute_on(plan, &io, run_in_state, &executor);
    });
    const std::string where = std::string("state: ") + state.name;
    if (status != ROWNORM_OK)
        report(c, setup, where + ": " + rownorm_last_error());
    if (after != taken || executor.changed != 0 || std::fegetround() != rounding)
        report(c, setup, where + ": the state was changed");
    if (const std::string text = difference(c, expected, arguments.outputs()); !text.empty())
        report(c, setup, where + ": " + text);
    if (way == Way::executor && executor.tasks == 0)
        report(c, setup, "the executor ran no task");
}

Case make(const Mix &mix, int formula, std::int64_t rows, std::int64_t n, Data data) {
    Case c;
    c.mix = mix;
    c.rows = rows;
    c.n = n;
    set_formula(c, formula);
    c.gain = true;
    c.bias = formula % 2 == 0;
    c.residual = formula == 0;
    c.eps = data == Data::subnormal ? 0 : 1e-5;
    c.data = data;
    c.seed = static_cast<std::uint64_t>(n);
    return c;
}

void check_all_states(const Case &c, std::initializer_list<Way> ways) {
    const Inputs in = make_inputs(c);
    const Outputs expected = check(c, in).outputs;
    for (const FpState &state : fp_states)
        for (const Way way : ways)
            for (const std::string &isa : isas())
                check_in_state(c, in, expected, state, way, isa);
}

} // namespace

TEST_SUITE("floating-point state") {
    TEST_CASE("the states that these tests set are taken") {
        for (const FpState &state : fp_states) {
            std::uint64_t taken = 0;
            in_fp_state(state.bits, taken, [] {});
#if defined(__x86_64__)
            CHECK(taken == state.bits);
#else
            CHECK((taken & ~0x9f00ULL) == (state.bits & ~0x9f00ULL));
#endif
        }
        CHECK(fp_read() == fp_default);
    }

    TEST_CASE("every state, formula and main mix") {
        for (const Mix &mix : main_mixes())
            for (int formula = 0; formula < formulas; ++formula)
                for (const std::int64_t n : {5, 67, 1030})
                    for (const Data data : {Data::normal, Data::subnormal, Data::huge})
                        if (kept(static_cast<std::uint64_t>(n * 7 + formula)))
                            check_all_states(make(mix, formula, 3, n, data), {Way::execute, Way::part});
    }

    TEST_CASE("on the threads of an executor") {
        for (const Mix &mix : main_mixes())
            check_all_states(make(mix, 2, 40, 67, Data::subnormal), {Way::executor});
    }

    TEST_CASE("on the library's threads: the same bits for 1 and 8, whatever the caller's state") {
        // Enough rows that the call does not stay on the calling thread.
        for (const Data data : {Data::subnormal, Data::normal}) {
            Case c = make({}, 0, 1000, 640, data);
            const Inputs in = make_inputs(c);
            Setup setup;
            const Outputs expected = run(c, in, setup);
            setup.threads = 8;
            for (const FpState &state : fp_states) {
                Arguments arguments(c, in, setup);
                rownorm_descriptor d = descriptor_of(c);
                d.max_threads = 8;
                const rownorm_io io = arguments.io();
                const Plan plan(d);
                std::uint64_t taken = 0;
                const std::uint64_t after = in_fp_state(state.bits, taken, [&] { rownorm_execute(plan, &io); });
                CHECK(after == taken);
                CHECK(difference(c, expected, arguments.outputs()) == "");
            }
        }
    }

    TEST_CASE("one-line calls") {
        const Case c = make({}, 1, 4, 67, Data::subnormal);
        const Inputs in = make_inputs(c);
        std::vector<float> x(4 * 67), expected(x.size()), y(x.size());
        std::memcpy(x.data(), in.x.data(), in.x.size());
        REQUIRE(rownorm_rms_norm_f32(expected.data(), x.data(), nullptr, 4, 67, 0) == ROWNORM_OK);
        for (const FpState &state : fp_states) {
            std::fill(y.begin(), y.end(), 7.0F);
            std::uint64_t taken = 0;
            const std::uint64_t after =
                in_fp_state(state.bits, taken, [&] { rownorm_rms_norm_f32(y.data(), x.data(), nullptr, 4, 67, 0); });
            CHECK(after == taken);
            CHECK(std::memcmp(y.data(), expected.data(), y.size() * sizeof(float)) == 0);
        }
    }

    TEST_CASE("one-line calls refuse a signalling NaN as eps without a trap") {
        const std::uint32_t bits = 0x7fa00000;
        float eps = 0, x = 1, y = 0;
        std::memcpy(&eps, &bits, sizeof eps);
        for (const FpState &state : fp_states) {
            rownorm_status status = ROWNORM_OK;
            std::uint64_t taken = 0;
            in_fp_state(state.bits, taken, [&] { status = rownorm_rms_norm_f32(&y, &x, nullptr, 1, 1, eps); });
            CHECK(status == ROWNORM_INVALID_ARGUMENT);
        }
    }

    TEST_CASE("arguments are checked, and p is turned into k, by their bits") {
        for (const FpState &state : fp_states) {
            rownorm_status negative = ROWNORM_OK, tiny = ROWNORM_OK, seven = ROWNORM_OK;
            rownorm_plan *plan = nullptr;
            std::uint64_t taken = 0;
            Case c;
            c.n = 100;
            rownorm_descriptor bad = descriptor_of(c), smallest = bad, share = bad;
            bad.eps = -4.9406564584124654e-324; // a negative subnormal is no zero
            smallest.p = 4.9406564584124654e-324;
            share.p = 0.07;
            std::vector<float> x(100, 1.0F), y(100);
            x[7] = 100; // the eighth element does not belong to the first seven
            rownorm_io io = rownorm_dense_io(&share, 1);
            io.x.data = x.data();
            io.y.data = y.data();
            const std::uint64_t after = in_fp_state(state.bits, taken, [&] {
                negative = rownorm_plan_create(&plan, &bad);
                tiny = rownorm_plan_create(&plan, &smallest);
                rownorm_plan_destroy(plan);
                seven = rownorm_plan_create(&plan, &share);
                rownorm_execute(plan, &io);
                rownorm_plan_destroy(plan);
            });
            CAPTURE(state.name);
            CHECK(after == taken);
            CHECK(negative == ROWNORM_INVALID_ARGUMENT);
            CHECK(tiny == ROWNORM_OK);
            CHECK(seven == ROWNORM_OK);
            CHECK(y[0] == doctest::Approx(1.0));
        }
    }
}
