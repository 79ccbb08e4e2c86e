// SPDX-License-Identifier: Apache-2.0
//
// The machine that measures: cache sizes, clock frequency, noise. All are read or measured, none assumed.
#pragma once

#include <cstddef>
#include <string>

namespace rownorm_bench {

struct Caches {
    std::size_t l1_bytes, l2_bytes, l3_bytes; // of one core; l3 is 0 where there is none
};
const Caches &caches();

// The largest cache.
std::size_t last_level_bytes();

// "L1", "L2", "L3" or "memory": the smallest that holds this many bytes, with a tenth to spare.
const char *level_of(std::size_t bytes);

// Threads that may run at once (the affinity mask's).
unsigned cores();

// Clock rate while one core works, from a chain of additions that takes one cycle each.
double measured_ghz();

// How much longer the slowest of 9 in 10 equal pieces of work takes than the median, in percent.
double measured_noise_percent();

std::string cpu_name();

} // namespace rownorm_bench
