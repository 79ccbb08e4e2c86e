// SPDX-License-Identifier: Apache-2.0
//
// What the memory system allows: plain traffic over the same buffers as a cell's, without a norm.
#pragma once

#include "buffers.hpp"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <span>

namespace rownorm_bench {

// Moves or reads the bytes of x (and y) once.
struct Limit {
    const char *name;
    bool writes; // reads x and writes y, as a norm does; only these bound one
    bool (*applies)(const Cell &cell);
    std::size_t (*bytes)(const Cell &cell);
    void (*run)(const Cell &cell, const Arguments &arguments, unsigned part, unsigned parts);
};
std::span<const Limit> limits();

// One benchmark: the limit on the cell's buffers, shared by the cell's number of threads.
void run_limit(benchmark::State &state, const Cell &cell, const Limit &limit);

// Bytes a second of the fastest limit that writes, measured on the cell's buffers in this process (once,
// then remembered).
double best_limit(const Cell &cell);

} // namespace rownorm_bench
