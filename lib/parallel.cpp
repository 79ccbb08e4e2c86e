// SPDX-License-Identifier: Apache-2.0
#include "parallel.hpp"

#include <new>

#include <pthread.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace rownorm {
namespace {

// A forked child has the pool's data but not its threads.
std::atomic<bool> forked{false};

// Nothing if there is no memory for it.
//
// Initialised here, not by its first use, and tried once only: after an initialisation that threw, oneTBB (2021.8)
// waits for ever at the next one, in the arena and in its library, for the one that it takes to be under way.
tbb::task_arena *make_arena() noexcept {
    alignas(tbb::task_arena) static char memory[sizeof(tbb::task_arena)];
    try {
        if (pthread_atfork(nullptr, nullptr, [] { forked.store(true, std::memory_order_relaxed); }) != 0)
            return nullptr;
        auto *const made = new (memory) tbb::task_arena();
        made->initialize();
        return made;
    } catch (...) {
        return nullptr;
    }
}

// Our own arena, so that neither the host's limits nor its waiting tasks mix with ours. Made at the first
// parallel call and never destroyed: workers may outlive every static destructor.
tbb::task_arena *arena() noexcept {
    static tbb::task_arena *const arena = make_arena();
    return arena;
}

} // namespace

void run_on_tbb(Tasks &tasks, size_t threads) noexcept {
    tbb::task_arena *const ours = forked.load(std::memory_order_relaxed) ? nullptr : arena();
    if (ours) {
        try {
            ours->execute([&] {
                tbb::this_task_arena::isolate([&] {
                    // The arena has a place for every CPU: what keeps the others out is that there are no more shares.
                    tbb::parallel_for(
                        size_t(0), threads, [&](size_t) { tasks.run_share(); }, tbb::simple_partitioner());
                });
            });
        } catch (...) { // no memory or no threads: what is left is done here
        }
    }
    tasks.run_rest();
}

bool run_on_executor(Tasks &tasks, rownorm_parallel_for_fn parallel_for, void *executor_context) noexcept {
    const auto trampoline = [](void *context, size_t task) { static_cast<Tasks *>(context)->run(task); };
    const int failed = parallel_for(executor_context, tasks.count(), trampoline, &tasks);
    return !failed && tasks.all_done();
}

} // namespace rownorm
