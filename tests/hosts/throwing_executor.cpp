// SPDX-License-Identifier: Apache-2.0
//
// rownorm_throwing_executor: an executor must not throw. One that does ends the process by std::terminate(), with its
// exception still the current one; neither that nor a return reaches the caller, who may be C and whose outputs other
// threads may be writing. An exception that the executor keeps to itself is its own business.
#include <rownorm/rownorm.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::int64_t n = 1024, rows = 400; // large enough for several tasks

enum Ending { returned = 11, caught = 12, terminated = 13, terminated_by_another = 14 };

/// How many tasks run before the exception; SIZE_MAX: all.
int run_some_and_throw(void *executor, std::size_t tasks, rownorm_task_fn task, void *context) {
    for (std::size_t i = 0; i < tasks && i < *static_cast<std::size_t *>(executor); ++i)
        task(context, i);
    throw std::runtime_error("thrown by the executor");
}

int throw_and_catch(void *, std::size_t tasks, rownorm_task_fn task, void *context) {
    for (std::size_t i = 0; i < tasks; ++i)
        try {
            task(context, i);
            throw i;
        } catch (std::size_t) {
        }
    return 0;
}

/// The status of a batch of rows of 3 and -3 on this executor; whether y is right.
rownorm_status run(std::int64_t count, rownorm_parallel_for_fn executor, void *context, bool *right = nullptr) {
    std::vector<float> x(static_cast<std::size_t>(rows * n)), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = i % 2 == 0 ? 3.0F : -3.0F;
    rownorm_descriptor d = {};
    d.struct_size = sizeof d;
    d.op = ROWNORM_RMS_NORM;
    d.x_type = ROWNORM_F32;
    d.n = n;
    rownorm_plan *plan = nullptr;
    if (rownorm_plan_create(&plan, &d) != ROWNORM_OK)
        return ROWNORM_OUT_OF_MEMORY;
    rownorm_io io = rownorm_dense_io(&d, count);
    io.x.data = x.data();
    io.y.data = y.data();
    const rownorm_status status = rownorm_execute_on(plan, &io, executor, context);
    rownorm_plan_destroy(plan);
    if (right != nullptr)
        for (std::size_t i = 0; i < y.size(); ++i)
            *right = *right && y[i] == (i % 2 == 0 ? 1.0F : -1.0F);
    return status;
}

[[noreturn]] void note_terminate() {
    try {
        if (const std::exception_ptr current = std::current_exception())
            std::rethrow_exception(current);
    } catch (const std::runtime_error &) {
        _exit(terminated);
    } catch (...) {
    }
    _exit(terminated_by_another);
}

/// How a process ends whose executor throws after `before` tasks.
int ending(std::int64_t count, std::size_t before) {
    const pid_t child = fork();
    if (child == 0) {
        std::set_terminate(note_terminate);
        try {
            run(count, run_some_and_throw, &before);
        } catch (...) {
            _exit(caught);
        }
        _exit(returned);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool ends_in(int expected, std::int64_t count, std::size_t before) {
    const int found = ending(count, before);
    std::printf("%lld rows, thrown after %zu tasks: ending %d, expected %d\n", static_cast<long long>(count), before,
                found, expected);
    return found == expected;
}

} // namespace

int main() {
    bool right = true;
    for (const std::size_t before : {std::size_t(0), std::size_t(1), SIZE_MAX})
        for (const std::int64_t count : {std::int64_t(1), rows})
            right = ends_in(terminated, count, before) && right;
    right = ends_in(returned, 0, 0) && right; // no rows: nothing to execute
    bool results = true;
    const rownorm_status status = run(rows, throw_and_catch, nullptr, &results);
    std::printf("an executor that catches its own: %s, %s\n", rownorm_status_name(status), results ? "right" : "wrong");
    return right && results && status == ROWNORM_OK ? 0 : 1;
}
