// SPDX-License-Identifier: Apache-2.0
// The ISAs of this build, what the machine can run, and which one a plan should run.
#pragma once

#include "kernel_table.hpp"

#include <rownorm/rownorm.h>

namespace rownorm {

struct Isa {
    const char *name;
    const KernelTable *kernels;
    const KernelTable *f16_kernels; // for rows of f16: those of a lower ISA where they are faster, with the same bits
    const char *(*obstacle)() noexcept;

    const KernelTable &kernels_for(Type rows) const { return rows == kF16 ? *f16_kernels : *kernels; }
};

// The best ISA that the machine, ROWNORM_MAX_ISA and `max_isa` allow, or exactly `exact`; either may be
// NULL. nullptr and a message if there is none.
const Isa *choose_isa(const char *exact, const char *max_isa, rownorm_status *status) noexcept;

// choose_isa(nullptr, nullptr), remembered.
const Isa *default_isa() noexcept;

} // namespace rownorm
