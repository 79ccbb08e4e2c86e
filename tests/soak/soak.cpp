// SPDX-License-Identifier: Apache-2.0
//
// rownorm_soak SECONDS: eight threads share three plans and call them in every way, with random numbers of rows,
// gaps and shapes, for that long. Every row must have the bits that a serial run gave it before; from the end of a
// warm-up the memory must not grow, and at the end no thread may be left but the library's own workers.
#include "batches.hpp"

#include "process.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using soak::Batches;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t thread_count = 8;
constexpr long growth_kib = 1024; ///< of the resident memory: what malloc may do with its lists

struct Shared {
    std::array<Batches, 3> plans;
    std::atomic<bool> stop{false};
    std::atomic<long> calls{0}, wrong{0};
};

void work(Shared &shared, std::uint64_t seed) {
    rownorm_test::Random random(seed);
    soak::Buffers buffers(shared.plans);
    while (!shared.stop.load(std::memory_order_relaxed)) {
        const std::size_t which = random.below(shared.plans.size());
        const std::string fault = shared.plans[which].run_one(random, buffers);
        ++shared.calls;
        if (!fault.empty() && ++shared.wrong < 10)
            std::fprintf(stderr, "thread %llu, plan %zu: %s\n", static_cast<unsigned long long>(seed), which,
                         fault.c_str());
    }
}

void sleep_until(clock_type::time_point end) { std::this_thread::sleep_until(end); }

/// This thread, and a worker for every other CPU, on a single one for itself: oneTBB starts no more, whatever it is
/// asked for.
int most_threads_left() {
    const int cpus = static_cast<int>(std::thread::hardware_concurrency());
    return (cpus > 2 ? cpus : 2) + soak::threads_of_sanitizer();
}

/// The threads that there are once those that were joined have left the kernel's list, too.
int count_threads_left() {
    int left = soak::count_threads();
    for (int tries = 0; left > most_threads_left() && tries < 100; ++tries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        left = soak::count_threads();
    }
    return left;
}

/// What is wrong with the threads and the memory; nothing if all is well.
int count_faults(long before_kib, long after_kib, int threads_left) {
    int faults = 0;
    if (threads_left > most_threads_left() && ++faults)
        std::fprintf(stderr, "%d threads are left; expected at most %d\n", threads_left, most_threads_left());
    if (soak::memory_is_watched() && after_kib > before_kib + growth_kib && ++faults)
        std::fprintf(stderr, "the memory grew from %ld to %ld KiB\n", before_kib, after_kib);
    return faults;
}

int run(double seconds) {
    static Shared shared{{Batches(0), Batches(1), Batches(2)}, {}, {}, {}};
    const auto begin = clock_type::now();
    const auto after = [&](double s) {
        return begin + std::chrono::duration_cast<clock_type::duration>(std::chrono::duration<double>(s));
    };
    std::array<std::thread, thread_count> threads;
    for (std::size_t i = 0; i < threads.size(); ++i)
        threads[i] = std::thread(work, std::ref(shared), i + 1);
    sleep_until(after(std::min(seconds / 3, 20.0)));
    const long before_kib = soak::resident_kib();
    sleep_until(after(seconds));
    const long after_kib = soak::resident_kib();
    shared.stop = true;
    for (std::thread &thread : threads)
        thread.join();
    const int left = count_threads_left();
    std::printf("%ld calls, %ld wrong; %ld KiB after warm-up, %ld at the end; %d threads left\n", shared.calls.load(),
                shared.wrong.load(), before_kib, after_kib, left);
    return count_faults(before_kib, after_kib, left) == 0 && shared.wrong == 0 && shared.calls > 100 ? 0 : 1;
}

} // namespace

int main(int count, char **arguments) {
    const double seconds = count == 2 ? std::atof(arguments[1]) : 0;
    if (!(seconds > 0)) {
        std::fprintf(stderr, "usage: rownorm_soak SECONDS\n");
        return 2;
    }
    return run(seconds);
}
