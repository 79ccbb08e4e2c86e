// SPDX-License-Identifier: Apache-2.0
//
// The hot cells whose instructions are counted.
#pragma once

#include <rownorm/rownorm.h>

#include <cstdint>
#include <span>
#include <string>

namespace counts {

struct Cell {
    const char *name; // up to the shape
    rownorm_op op;
    rownorm_type type;
    bool residual;
    std::int64_t rows, n;
    bool one_line = false; // rownorm_rms_norm_f32() in place of a plan
};

// Batches near and far, and rows that are summed ahead of those before them and not, on the machine that counts.py
// names.
std::span<const Cell> cells();

// "rms_norm/f32/rows:8/cols:4096", as rownorm_bench names it.
std::string name_of(const Cell &cell);

} // namespace counts
