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

// None depends on the caches of the machine that counts: the batches of up to 128 KiB are near on every machine, and
// the one of 4 MiB (8 MiB with y) is far wherever L2 has less than 4 MiB.
std::span<const Cell> cells();

// "rms_norm/f32/rows:8/cols:4096", as rownorm_bench names it.
std::string name_of(const Cell &cell);

} // namespace counts
