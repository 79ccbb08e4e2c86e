// SPDX-License-Identifier: Apache-2.0
//
// One timed loop for every contestant and limit, with the counters that all of them report.
#pragma once

#include "buffers.hpp"
#include "machine.hpp"
#include "traffic.hpp"

#include <benchmark/benchmark.h>

#include <ctime>

namespace rownorm_bench {

// Serial work is measured in the thread's own CPU time, which other programs on the machine do not stretch;
// shared work in the time that passes.
class Stopwatch {
public:
    explicit Stopwatch(unsigned threads) : clock_(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC) {}

    double seconds() const { return now() - begin_; }

private:
    double now() const {
        timespec time{};
        clock_gettime(clock_, &time);
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    }

    clockid_t clock_;
    double begin_ = now();
};

// Times run(arguments) on the cell's buffers; `bytes` is what one run moves. Returns bytes a second.
template <class Run>
double measure(benchmark::State &state, const Cell &cell, std::size_t bytes, Run &&run) {
    Rotation rotation(cell);
    const Stopwatch stopwatch(cell.threads);
    const std::size_t y_bytes =
        static_cast<std::size_t>(cell.shape.rows * cell.shape.cols) * element_bytes(cell.mix->y);
    for (auto _ : state) {
        const Arguments arguments = rotation.next();
        run(arguments);
        if (cell.place == Place::consumed)
            benchmark::DoNotOptimize(read_all(arguments.y, y_bytes));
    }
    const double run_seconds = stopwatch.seconds() / static_cast<double>(state.iterations());
    const double rate = static_cast<double>(bytes) / run_seconds;
    state.counters["bytes/s"] = rate;
    state.counters["ns/row"] = 1e9 * run_seconds / static_cast<double>(cell.shape.rows);
    state.SetLabel(cell.place == Place::repeated ? level_of(bytes_touched(cell)) : name_of(cell.place));
    return rate;
}

} // namespace rownorm_bench
