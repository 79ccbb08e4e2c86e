// SPDX-License-Identifier: Apache-2.0
// Tasks over threads: the one place that knows oneTBB.
#pragma once

#include <rownorm/rownorm.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rownorm {

constexpr size_t kMaxTasks = 256;
constexpr int64_t kTasksPerThread = 4; // so that a worker that comes late, or not at all, leaves little behind

// A number of independent tasks of which each runs once, whoever asks for it and how often.
class Tasks {
public:
    using Function = void (*)(const void *context, size_t task);
    Tasks(size_t count, Function function, const void *context) noexcept
        : count_(count), function_(function), context_(context) {}

    void run(size_t task) noexcept {
        if (task < count_ && !taken_[task].exchange(true, std::memory_order_relaxed)) {
            function_(context_, task);
            done_.fetch_add(1, std::memory_order_acq_rel);
        }
    }
    // Tasks until none is left: what each of several threads does.
    void run_share() noexcept {
        for (size_t task; (task = next_.fetch_add(1, std::memory_order_relaxed)) < count_;)
            run(task);
    }
    // The tasks that nobody took, on this thread.
    void run_rest() noexcept {
        for (size_t task = 0; task < count_; task++)
            run(task);
    }
    bool all_done() const noexcept { return done_.load(std::memory_order_acquire) == count_; }
    size_t count() const noexcept { return count_; }

private:
    const size_t count_; // at most kMaxTasks
    const Function function_;
    const void *const context_;
    std::atomic<size_t> next_{0}, done_{0};
    std::atomic<bool> taken_[kMaxTasks] = {};
};

// Runs all tasks, on at most `threads` threads: this one and oneTBB's where they can be had. Returns when all are done.
void run_on_tbb(Tasks &tasks, size_t threads) noexcept;

// Runs all tasks on the caller's executor; false if it failed or left some out.
bool run_on_executor(Tasks &tasks, rownorm_parallel_for_fn parallel_for, void *executor_context) noexcept;

} // namespace rownorm
