// SPDX-License-Identifier: Apache-2.0
#include "execute.hpp"

#include "long_row.hpp"
#include "parallel.hpp"
#include "rows.hpp"
#include "status.hpp"
#include "strategy.hpp"
#include "threads.hpp"

#include <algorithm>

namespace rownorm {
namespace {

// With fewer elements, where one of f64 counts for two, waking a thread costs more than it saves: these take 8 us or
// more.
constexpr int64_t kParallelElements = 80 << 10;
constexpr int64_t kTaskBytes = 64 << 10; // the least traffic of a task

struct Batch {
    const Plan &plan;
    const rownorm_io &io;
    int64_t rows;
    size_t tasks;

    static void run(const void *context, size_t task) {
        const auto &b = *static_cast<const Batch *>(context);
        const auto t = int64_t(task), tasks = int64_t(b.tasks);
        run_rows(b.plan, b.io, b.rows, first_row(b.rows, t, tasks), first_row(b.rows, t + 1, tasks));
    }
};

size_t tasks_for(const Plan &plan, const rownorm_io &io, int64_t rows, int64_t most) {
    const int64_t worth = traffic(plan, io, rows) / kTaskBytes;
    return size_t(std::max<int64_t>(1, std::min({rows, worth, most, int64_t(kMaxTasks)})));
}

bool is_worth_sharing(const Plan &plan, int64_t rows) {
    return rows > (kParallelElements - 1) / (plan.is_f64 ? 2 : 1) / plan.n;
}

} // namespace

rownorm_status run_batch(const Plan &plan, const rownorm_io &io, int64_t rows) noexcept {
    const bool may_share = plan.max_threads != 1 && is_worth_sharing(plan, rows);
    const int64_t threads = !may_share ? 1 : plan.max_threads ? plan.max_threads : current_threads();
    const size_t count = threads == 1 ? 1 : tasks_for(plan, io, rows, threads * kTasksPerThread);
    if (threads > rows && is_long_row(plan, io)) {
        for (int64_t row = 0; row < rows; row++)
            run_long_row(plan, io, row, size_t(threads));
    } else if (count == 1) {
        run_rows(plan, io, rows, 0, rows);
    } else {
        const Batch batch{plan, io, rows, count};
        Tasks tasks(count, Batch::run, &batch);
        run_on_tbb(tasks, std::min(size_t(threads), count));
    }
    return ROWNORM_OK;
}

rownorm_status run_batch_on(const Plan &plan, const rownorm_io &io, int64_t rows, rownorm_parallel_for_fn parallel_for,
                            void *executor_context) noexcept {
    const int64_t most = plan.max_threads ? int64_t(plan.max_threads) : int64_t(kMaxTasks);
    const Batch batch{plan, io, rows, tasks_for(plan, io, rows, most)};
    Tasks tasks(batch.tasks, Batch::run, &batch);
    if (run_on_executor(tasks, parallel_for, executor_context))
        return ROWNORM_OK;
    return fail(ROWNORM_EXECUTOR_FAILED, "parallel_for returned a failure, or before each of its %zu tasks had run",
                batch.tasks);
}

} // namespace rownorm
