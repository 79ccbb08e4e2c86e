// SPDX-License-Identifier: Apache-2.0
//
// The flags beside Google Benchmark's own.
#pragma once

#include "cells.hpp"

#include <string>
#include <vector>

namespace rownorm_bench {

struct Options {
    std::vector<std::string> isas;  // empty: all that this machine runs
    std::vector<std::string> ops;   // empty: all
    std::vector<Shape> shapes;      // empty: decode, prefill and heads
    std::vector<std::string> types; // empty: all
    std::vector<unsigned> threads;  // empty: 1, and all cores where there are many rows
    std::vector<Place> places;      // empty: repeated, and cold_weight for decode's shapes
    bool limits = true, peers = true;
};

// Takes our flags out of the command line. Throws std::invalid_argument with a sentence for the user.
Options parse_options(int &argc, char **argv);

extern const char *const usage;

} // namespace rownorm_bench
