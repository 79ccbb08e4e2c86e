// SPDX-License-Identifier: Apache-2.0
#include "cells.hpp"

namespace counts {

namespace {

constexpr Cell table[] = {
    {"rms_norm/f32", ROWNORM_RMS_NORM, ROWNORM_F32, false, 8, 4096},
    {"rms_norm/f16", ROWNORM_RMS_NORM, ROWNORM_F16, false, 8, 4096},
    {"rms_norm/bf16", ROWNORM_RMS_NORM, ROWNORM_BF16, false, 8, 4096},
    {"add_rms_norm/f32", ROWNORM_RMS_NORM, ROWNORM_F32, true, 8, 4096},
    {"add_rms_norm/bf16", ROWNORM_RMS_NORM, ROWNORM_BF16, true, 8, 4096},
    {"layer_norm/f32", ROWNORM_LAYER_NORM, ROWNORM_F32, false, 8, 4096},
    {"layer_norm/bf16", ROWNORM_LAYER_NORM, ROWNORM_BF16, false, 8, 4096},
    {"rms_norm/f32", ROWNORM_RMS_NORM, ROWNORM_F32, false, 256, 4096}, // far: the next rows are fetched
    {"rms_norm/f32", ROWNORM_RMS_NORM, ROWNORM_F32, false, 32, 128},   // heads
    {"rms_norm/bf16", ROWNORM_RMS_NORM, ROWNORM_BF16, false, 256, 128},
    {"rms_norm/f32", ROWNORM_RMS_NORM, ROWNORM_F32, false, 2, 128}, // fewer than a group is worth it
    {"rms_norm/f32", ROWNORM_RMS_NORM, ROWNORM_F32, false, 1, 128}, // what a call costs
    {"call/one_line/f32", ROWNORM_RMS_NORM, ROWNORM_F32, false, 1, 128, true},
    {"call/one_line/f32", ROWNORM_RMS_NORM, ROWNORM_F32, false, 8, 128, true},
};

} // namespace

std::span<const Cell> cells() { return table; }

std::string name_of(const Cell &cell) {
    return std::string(cell.name) + "/rows:" + std::to_string(cell.rows) + "/cols:" + std::to_string(cell.n);
}

} // namespace counts
