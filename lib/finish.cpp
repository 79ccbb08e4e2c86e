// SPDX-License-Identifier: Apache-2.0
#include "finish.hpp"

#include "redo.hpp"

namespace rownorm {
namespace {

void apply(Cursor &c, Rows s, const Scale &scale) {
    c.to.x = s;
    c.to.rows = 1;
    c.to.scale = &scale;
    c.apply(c.to);
}

// A row at `s` that the usual arithmetic does not hold; `usual` and `usual_mean` are what it gave.
void redo(const Plan &plan, Cursor &c, const void *s, const Scale &usual, double usual_mean) {
    const Type type = c.kernels->type;
    const RowData row{s, nullptr, type, type, c.to.w.data, c.to.b.data, c.to.y.data};
    Scale scale;
    if (plan.x != kF64) {
        scale = redo_in_f64(plan, row);
        put_statistics(plan, c, 0, scale.mean + scale.delta, scale.rstd);
    } else if (redo_scaled(plan, row, scale)) {
        put_statistics(plan, c, 0, scale.mean, scale.rstd);
    } else {
        apply(c, {s, 0}, usual);
        put_statistics(plan, c, 0, usual_mean, usual.rstd);
    }
}

} // namespace

[[gnu::cold]] void finish_one_by_one(const Plan &plan, Cursor c, Rows s, int64_t rows, const Tile &t) noexcept {
    for (int64_t r = 0; r < rows; r++) {
        if (t.fits[r]) {
            apply(c, s, t.scale[r]);
            put_statistics(plan, c, 0, mean_of(plan, t, r), t.scale[r].rstd);
        } else {
            redo(plan, c, s.data, t.scale[r], mean_of(plan, t, r));
        }
        c.advance(plan, 1);
        s = at(s, s.stride);
    }
}

} // namespace rownorm
