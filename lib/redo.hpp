// SPDX-License-Identifier: Apache-2.0
// Rows that the usual arithmetic cannot hold: sums that overflow, or so small a root that it has lost digits.
#pragma once

#include "plan.hpp"

namespace rownorm {

// One row. `residual` is NULL where x is what is normalised.
struct RowData {
    const void *x, *residual;
    Type x_type, residual_type;
    const void *w, *b;
    void *y;
};

// The same lanes, tree and formulas in f64 to the end, then rounded to f32 and to y's type. y may be x or
// the residual. For f32, f16 and bf16.
Scale redo_in_f64(const Plan &plan, const RowData &row) noexcept;

// f64 rows, all elements finite: x is scaled by a power of two, and eps with it. False if some x is not
// finite: then the formula's own result stands.
bool redo_scaled(const Plan &plan, const RowData &row, Scale &scale) noexcept;

} // namespace rownorm
