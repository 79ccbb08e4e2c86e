// SPDX-License-Identifier: Apache-2.0
// The ISAs of this build, what the machine can run, and which one a plan should run.
#pragma once

#include "kernel_table.hpp"

#include <rownorm/rownorm.h>

namespace rownorm {

struct Isa {
    const char *name;
    const KernelTable *kernels;
    const KernelTable *narrow_kernels; // of a lower ISA, with the same bits, for the rows that are faster with them
    const char *(*obstacle)() noexcept;

    // For rows of n elements. Narrower vectors serve f16, whose conversions they do faster, and rows of f32 that do not
    // all begin on a cache line, of which a vector as wide as the line crosses two at every step.
    const KernelTable &kernels_for(Type rows, int64_t n) const {
        return rows == kF16 || (rows == kF32 && n % 16) ? *narrow_kernels : *kernels;
    }
};

// The best ISA that the machine, ROWNORM_MAX_ISA and `max_isa` allow, or exactly `exact`; either may be
// NULL. nullptr and a message if there is none.
const Isa *choose_isa(const char *exact, const char *max_isa, rownorm_status *status) noexcept;

// choose_isa(nullptr, nullptr), remembered.
const Isa *default_isa() noexcept;

} // namespace rownorm
