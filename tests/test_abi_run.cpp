// SPDX-License-Identifier: Apache-2.0
//
// The ways to run: what a caller's executor may do, errors per thread, threads, versions, ISA names.
#include "scene.hpp"

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

using namespace rownorm_test;

namespace {

/// Large enough that the library makes several tasks of it.
struct Large {
    Large() : x(rows * n), y(rows * n, -1.0F), expected(rows * n) {
        for (std::size_t i = 0; i < x.size(); ++i)
            x[i] = static_cast<float>(i % 251) - 100;
        Case c;
        c.n = n;
        d = descriptor_of(c);
        io = rownorm_dense_io(&d, rows);
        io.x.data = x.data();
        io.y.data = expected.data();
        const Plan plan(d);
        rownorm_execute_part(plan, &io, 0, 1);
        io.y.data = y.data();
    }
    bool right() const { return std::memcmp(y.data(), expected.data(), y.size() * sizeof(float)) == 0; }

    static constexpr std::int64_t rows = 500, n = 640;
    std::vector<float> x, y, expected;
    rownorm_descriptor d;
    rownorm_io io;
};

struct Executor {
    std::size_t calls = 0, tasks = 0;
    int result = 0;
    std::size_t skip = SIZE_MAX, repeats = 1, beyond = 0;
};

/// Runs tasks as the executor's fields say: some left out, some twice, some beyond the last.
int run_as_told(void *context, std::size_t tasks, rownorm_task_fn task, void *task_context) {
    auto &e = *static_cast<Executor *>(context);
    ++e.calls;
    e.tasks = tasks;
    for (std::size_t repeat = 0; repeat < e.repeats; ++repeat)
        for (std::size_t i = 0; i < tasks + e.beyond; ++i)
            if (i != e.skip)
                task(task_context, i);
    return e.result;
}

int refuse(void *, std::size_t, rownorm_task_fn, void *) { return -1; }
int forget(void *, std::size_t, rownorm_task_fn, void *) { return 0; }

} // namespace

TEST_SUITE("ABI: running") {
    TEST_CASE("an executor is called at most twice and gets several tasks") {
        Large large;
        const Plan plan(large.d);
        Executor e;
        CHECK(rownorm_execute_on(plan, &large.io, run_as_told, &e) == ROWNORM_OK);
        CHECK(e.calls >= 1);
        CHECK(e.calls <= 2);
        CHECK(e.tasks > 1);
        CHECK(large.right());
    }

    TEST_CASE("an executor that fails, or leaves tasks out, is a failure") {
        Large large;
        const Plan plan(large.d);
        for (const rownorm_parallel_for_fn bad : {refuse, forget}) {
            CHECK(rownorm_execute_on(plan, &large.io, bad, nullptr) == ROWNORM_EXECUTOR_FAILED);
            CHECK(message_lacks({"parallel_for"}) == "");
        }
        Executor e;
        e.skip = 1;
        CHECK(rownorm_execute_on(plan, &large.io, run_as_told, &e) == ROWNORM_EXECUTOR_FAILED);
        e.skip = SIZE_MAX;
        e.result = 7;
        CHECK(rownorm_execute_on(plan, &large.io, run_as_told, &e) == ROWNORM_EXECUTOR_FAILED);
    }

    TEST_CASE("a task that is run twice, or one that does not exist, changes nothing, also in place") {
        Large large;
        const Plan plan(large.d);
        Executor e;
        e.repeats = 3;
        e.beyond = 5;
        CHECK(rownorm_execute_on(plan, &large.io, run_as_told, &e) == ROWNORM_OK);
        CHECK(large.right());
        large.y = large.x;
        large.io.x.data = large.y.data();
        CHECK(rownorm_execute_on(plan, &large.io, run_as_told, &e) == ROWNORM_OK);
        CHECK(large.right());
    }

    TEST_CASE("an executor is not called without rows") {
        Large large;
        const Plan plan(large.d);
        large.io.extent[2] = 0;
        Executor e;
        CHECK(rownorm_execute_on(plan, &large.io, run_as_told, &e) == ROWNORM_OK);
        CHECK(e.tasks == 0);
    }

    TEST_CASE("the last error belongs to its thread and stays after a success") {
        Scene scene;
        const Plan plan(scene.d);
        CHECK(rownorm_execute(plan, nullptr) == ROWNORM_INVALID_ARGUMENT);
        const std::string mine = rownorm_last_error();
        CHECK(mine != "");
        std::string other = "unset";
        std::thread([&] {
            const std::string before = rownorm_last_error();
            rownorm_execute(nullptr, &scene.io);
            other = before.empty() ? rownorm_last_error() : "not empty at first: " + before;
        }).join();
        CHECK(other.find("plan") != std::string::npos);
        CHECK(rownorm_execute(plan, &scene.io) == ROWNORM_OK);
        CHECK(rownorm_last_error() == mine);
    }

    TEST_CASE("names of statuses, and the version") {
        CHECK(std::string(rownorm_status_name(ROWNORM_OK)) == "ROWNORM_OK");
        CHECK(std::string(rownorm_status_name(ROWNORM_INVALID_ARGUMENT)) == "ROWNORM_INVALID_ARGUMENT");
        CHECK(std::string(rownorm_status_name(ROWNORM_UNSUPPORTED)) == "ROWNORM_UNSUPPORTED");
        CHECK(std::string(rownorm_status_name(ROWNORM_OUT_OF_MEMORY)) == "ROWNORM_OUT_OF_MEMORY");
        CHECK(std::string(rownorm_status_name(ROWNORM_EXECUTOR_FAILED)) == "ROWNORM_EXECUTOR_FAILED");
        CHECK(std::string(rownorm_status_name(5)) == "unknown status");
        CHECK(std::string(rownorm_status_name(0xffffffffU)) == "unknown status");
        CHECK(rownorm_version() == ROWNORM_VERSION);
        CHECK(ROWNORM_VERSION == 10000 * ROWNORM_VERSION_MAJOR + 100 * ROWNORM_VERSION_MINOR + ROWNORM_VERSION_PATCH);
    }

    TEST_CASE("the number of threads is set and given back") {
        const std::uint32_t usual = rownorm_num_threads();
        CHECK(usual >= 1);
        rownorm_set_num_threads(7);
        CHECK(rownorm_num_threads() == 7);
        Large large;
        const Plan plan(large.d);
        CHECK(rownorm_execute(plan, &large.io) == ROWNORM_OK);
        CHECK(large.right());
        rownorm_set_num_threads(0);
        CHECK(rownorm_num_threads() == usual);
    }

    TEST_CASE("rownorm_dense_io") {
        Case c;
        c.mix = {ROWNORM_BF16, ROWNORM_F32, ROWNORM_TYPE_AS_X, ROWNORM_F32};
        c.n = 10;
        const rownorm_descriptor d = descriptor_of(c);
        const rownorm_io io = rownorm_dense_io(&d, 3);
        CHECK(io.struct_size == sizeof io);
        CHECK(io.flags == 0);
        CHECK(io.extent[0] * io.extent[1] * io.extent[2] == 3);
        CHECK(io.x.stride_bytes[2] == 20);
        CHECK(io.residual.stride_bytes[2] == 40);
        CHECK(io.residual_out.stride_bytes[2] == 40);
        CHECK(io.y.stride_bytes[2] == 20);
        CHECK(io.w.stride_bytes[2] == 0);
        CHECK(io.x.data == nullptr);
    }
}
