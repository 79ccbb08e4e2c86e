// SPDX-License-Identifier: Apache-2.0
#include "plain_tile.hpp"

#include "float_state.hpp"
#include "tile.hpp"

namespace rownorm {

bool run_plain_tile(const Formula &formula, const RowKernels &kernels, Rows x, MutableRows y, Rows w, Rows b,
                    int64_t rows) noexcept {
    const DefaultFloatState state;
    Tile t(rows);
    kernels.sum(x, rows, formula.k, t.sums);
    if (__builtin_expect(!close_tile(formula, kernels.centred, x, rows, t), 0))
        return false;
    const ApplyArguments to{x,       y,       w,    b, rows, formula.n, t.scale, formula.weight_offset, formula.round,
                            nullptr, nullptr, false};
    kernels.apply_of(formula, w.data, b.data)(to);
    return true;
}

} // namespace rownorm
