// SPDX-License-Identifier: Apache-2.0
//
// Executors that lie in ways that only threads bring out: every task by several threads at once, on the last thread
// that one would expect, with calls of the library inside a task, and failures reported after all was done.
#include "../run.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <thread>

using namespace rownorm_test;

namespace {

/// A batch in place, so that a task that ran twice would show.
struct InPlace {
    static constexpr std::int64_t rows = 700, n = 513;

    InPlace() : c(make_case()), in(make_inputs(c)), expected(run(c, in).y), memory(in.x), d(descriptor_of(c)) {
        io = rownorm_dense_io(&d, rows);
        io.x.data = io.y.data = memory.data();
    }
    static Case make_case() {
        Case c;
        c.op = ROWNORM_LAYER_NORM;
        c.rows = rows;
        c.n = n;
        return c;
    }
    bool right() const { return difference(ROWNORM_F32, expected, memory, "y").empty(); }

    Case c;
    Inputs in;
    std::vector<std::byte> expected, memory;
    rownorm_descriptor d;
    rownorm_io io = {};
};

/// Four threads race through all tasks; the last one knows of none of the others.
int race(void *, std::size_t tasks, rownorm_task_fn task, void *context) {
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([=] {
            for (std::size_t i = 0; i < tasks + 3; ++i)
                task(context, i);
        });
    for (std::thread &thread : threads)
        thread.join();
    return 0;
}

int race_and_fail(void *executor, std::size_t tasks, rownorm_task_fn task, void *context) {
    race(executor, tasks, task, context);
    return 42;
}

/// Executes another batch inside of each task.
int nest(void *executor, std::size_t tasks, rownorm_task_fn task, void *context) {
    int wrong = 0;
    for (std::size_t i = tasks; i-- > 0;) {
        task(context, i);
        float x[4] = {2, -2, 2, -2}, y[4] = {};
        wrong += rownorm_rms_norm_f32(y, x, nullptr, 1, 4, 0) == ROWNORM_OK && y[0] == 1 ? 0 : 1;
    }
    *static_cast<int *>(executor) += wrong;
    return 0;
}

/// The largest index there is, then the tasks.
int absurd(void *, std::size_t tasks, rownorm_task_fn task, void *context) {
    for (const std::size_t index : {SIZE_MAX, SIZE_MAX / 2, tasks, std::size_t(1) << 32})
        task(context, index);
    for (std::size_t i = 0; i < tasks; ++i)
        task(context, i);
    return 0;
}

} // namespace

TEST_SUITE("attack: executors") {
    TEST_CASE("each task by four threads at once, in place: done once") {
        for (int i = 0; i < scaled(30); ++i) {
            InPlace batch;
            const Plan plan(batch.d);
            CHECK(rownorm_execute_on(plan, &batch.io, race, nullptr) == ROWNORM_OK);
            REQUIRE(batch.right());
        }
    }

    TEST_CASE("a failure after all was done is a failure") {
        InPlace batch;
        const Plan plan(batch.d);
        CHECK(rownorm_execute_on(plan, &batch.io, race_and_fail, nullptr) == ROWNORM_EXECUTOR_FAILED);
    }

    TEST_CASE("calls inside of tasks, and tasks that do not exist") {
        InPlace batch, other;
        const Plan plan(batch.d);
        int wrong = 0;
        CHECK(rownorm_execute_on(plan, &batch.io, nest, &wrong) == ROWNORM_OK);
        CHECK(wrong == 0);
        CHECK(batch.right());
        CHECK(rownorm_execute_on(plan, &other.io, absurd, nullptr) == ROWNORM_OK);
        CHECK(other.right());
    }
}
