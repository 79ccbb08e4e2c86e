// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <benchmark/benchmark.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <vector>

namespace rownorm_bench {

namespace {

Caches read_caches() {
    Caches found{32 << 10, 512 << 10, 0}; // where the system tells nothing
    for (const auto &cache : benchmark::CPUInfo::Get().caches) {
        const auto bytes = static_cast<std::size_t>(cache.size);
        if (cache.type == "Instruction")
            continue;
        (cache.level == 1 ? found.l1_bytes : cache.level == 2 ? found.l2_bytes : found.l3_bytes) = bytes;
    }
    return found;
}

constexpr int chain_length = 100'000;

// Nanoseconds of one pass over a chain of dependent additions.
double chain_ns() {
    std::uint64_t sum = 1, step = 3;
    asm volatile("" : "+r"(step)); // not a constant: Intel's newest add those without taking a cycle
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < chain_length; i += 10) {
        for (int j = 0; j < 10; j++) {
            sum += step;
            asm volatile("" : "+r"(sum)); // keeps each addition, and in its register
        }
    }
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

std::vector<double> sorted_chain_times() {
    std::vector<double> times(200);
    for (double &time : times)
        time = chain_ns();
    std::sort(times.begin(), times.end());
    return times;
}

} // namespace

const Caches &caches() {
    static const Caches found = read_caches();
    return found;
}

std::size_t last_level_bytes() { return std::max(caches().l2_bytes, caches().l3_bytes); }

const char *level_of(std::size_t bytes) {
    const auto holds = [bytes](std::size_t cache_bytes) { return bytes <= cache_bytes / 10 * 9; };
    if (holds(caches().l1_bytes))
        return "L1";
    if (holds(caches().l2_bytes))
        return "L2";
    return holds(caches().l3_bytes) ? "L3" : "memory";
}

unsigned cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

double measured_ghz() { return chain_length / sorted_chain_times().front(); }

double measured_noise_percent() {
    const std::vector<double> times = sorted_chain_times();
    return 100 * (times[times.size() * 9 / 10] / times[times.size() / 2] - 1);
}

std::string cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name"))
            return line.substr(line.find(':') + 2);
    return "unknown";
}

} // namespace rownorm_bench
