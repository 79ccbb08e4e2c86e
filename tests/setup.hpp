// SPDX-License-Identifier: Apache-2.0
//
// How a case is run: all that must not matter to the result.
#pragma once

#include "memory.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace rownorm_test {

enum class How {
    execute,
    parts,           ///< rownorm_execute_part, the last part first
    parts_at_once,   ///< one thread a part
    executor,        ///< rownorm_execute_on with an executor that runs the last task first
    executor_at_once ///< ... with one thread a task
};
constexpr How every_how[] = {How::execute, How::parts, How::parts_at_once, How::executor, How::executor_at_once};

/// Where an output goes: memory of its own, nowhere, or exactly over an input.
enum class Place { own, nowhere, over_x, over_residual };

struct Setup {
    const char *isa = nullptr; ///< exact; null: the default
    How how = How::execute;
    std::uint32_t threads = 1;                   ///< max_threads
    std::int64_t parts = 1;                      ///< for the two ways with parts
    std::array<std::int64_t, 3> extent{0, 0, 0}; ///< {0,0,0}: 1 x 1 x rows
    Placement x, residual, w, b, residual_out, y;
    Place y_place = Place::own, residual_out_place = Place::own;
    bool weight_per_row = false; ///< w and b have one row for each row of x, all of them equal
    bool caller_memory = false;  ///< rownorm_plan_init
    bool statistics = true;      ///< ask for rstd and mean (LayerNorm only)
    bool read_only = false;      ///< inputs in read-only pages (guarded placements only)
};
std::string describe(const Setup &setup);

/// The ISAs that this machine runs, the best first, from the cap ROWNORM_MAX_ISA down.
const std::vector<std::string> &isas();

} // namespace rownorm_test
