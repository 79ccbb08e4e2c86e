// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cells.hpp"

#include <benchmark/benchmark.h>

#include <string>

namespace rownorm_bench {

// One benchmark: the library's plan for the cell on exactly this ISA. Counts the share of the limit beside
// bytes and rows.
void run_norm(benchmark::State &state, const Cell &cell, const std::string &isa);

// What a call costs beside the work: names begin with "call/". One row of 128 f32 by each way to call.
void register_call_overhead();

} // namespace rownorm_bench
