// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include "plain_tile.hpp"
#include "recomputed_row.hpp"
#include "redo.hpp"
#include "strategy.hpp"

namespace rownorm {
namespace {

// Writes x + residual to `out`, and adds to the sums of the first k elements.
void add_residual(const Plan &plan, const Cursor &c, MutableRows out, int64_t rows, double *sums) {
    plan.add(c.x, c.residual, out, rows, plan.k, sums);
    if (plan.k == plan.n)
        return;
    double unused[kTile] = {};
    const int64_t x = plan.k * bytes_of(plan.x), s = plan.k * bytes_of(plan.residual);
    plan.add(at(c.x, x), at(c.residual, s), at(out, s), rows, plan.n - plan.k, unused);
}

void apply(Cursor &c, Rows s, int64_t rows, const Scale *scale) {
    c.to.x = s;
    c.to.rows = rows;
    c.to.scale = scale;
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
        apply(c, {s, 0}, 1, &usual);
        put_statistics(plan, c, 0, usual_mean, usual.rstd);
    }
}

// A tile of which some row does not fit: one by one.
[[gnu::noinline, gnu::cold]] void finish_one_by_one(const Plan &plan, Cursor c, Rows s, int64_t rows, const Tile &t) {
    for (int64_t r = 0; r < rows; r++) {
        if (t.fits[r]) {
            apply(c, s, 1, &t.scale[r]);
            put_statistics(plan, c, 0, t.mean[r], t.scale[r].rstd);
        } else {
            redo(plan, c, s.data, t.scale[r], t.mean[r]);
        }
        c.advance(plan, 1);
        s = at(s, s.stride);
    }
}

// Closes and writes the tile, whose rows are in memory at `s` and their sums in t.sums.
void finish_tile(const Plan &plan, Cursor &c, Rows s, int64_t rows, Tile &t) {
    if (__builtin_expect(!close_tile(plan, c.kernels->centred, s, rows, t), 0))
        return finish_one_by_one(plan, c, s, rows, t);
    apply(c, s, rows, t.scale);
    if (c.mean || c.rstd)
        for (int64_t r = 0; r < rows; r++)
            put_statistics(plan, c, r, t.mean[r], t.scale[r].rstd);
}

// A tile with a residual: the sum goes to residual_out, or to y, which is as good a place until it is y.
[[gnu::noinline]] void run_added_tile(const Plan &plan, Cursor &c, int64_t rows) {
    if (!c.residual_out.data && plan.y != plan.residual) {
        Cursor row = c;
        for (int64_t r = 0; r < rows; r++, row.advance(plan, 1))
            run_recomputed_row(plan, row);
        return;
    }
    Tile t(rows);
    const MutableRows sum = c.residual_out.data ? c.residual_out : c.to.y;
    add_residual(plan, c, sum, rows, t.sums);
    finish_tile(plan, c, as_input(sum), rows, t);
}

void run_tile(const Plan &plan, Cursor &c, int64_t rows) {
    if (c.adds())
        return run_added_tile(plan, c, rows);
    Tile t(rows);
    c.kernels->sum(c.x, rows, plan.k, t.sums);
    finish_tile(plan, c, c.x, rows, t);
}

void run_segment(const Plan &plan, Cursor &c, int64_t rows, const Strategy &strategy) {
    const int64_t tile = rows_per_tile(plan.n);
    for (; rows > tile; rows -= tile) {
        if (strategy.fetch_next) {
            c.to.next_x = static_cast<const char *>(at(c.x, tile * c.x.stride).data);
            c.to.next_residual = static_cast<const char *>(at(c.residual, tile * c.residual.stride).data);
            c.to.stream = strategy.stream;
        }
        run_tile(plan, c, tile);
        c.advance(plan, tile);
    }
    c.to.next_x = c.to.next_residual = nullptr;
    c.to.stream = false;
    run_tile(plan, c, rows);
}

// True if the rows were such a tile, and are done.
bool run_if_plain_tile(const Plan &plan, const rownorm_io &io, int64_t begin, int64_t end) {
    const int64_t rows = end - begin;
    if (rows > rows_per_tile(plan.n) || rows <= 0 || io.extent[0] != 1 || io.extent[1] != 1 || io.residual.data ||
        io.mean || io.rstd)
        return false;
    const auto from_begin = [begin](const auto &tensor) {
        return at(Rows{tensor.data, tensor.stride_bytes[2]}, begin * tensor.stride_bytes[2]);
    };
    const PlainTile tile{from_begin(io.x),
                         {nullptr, 0},
                         at(MutableRows{io.y.data, io.y.stride_bytes[2]}, begin * io.y.stride_bytes[2]),
                         from_begin(io.w),
                         from_begin(io.b)};
    return run_plain_tile(plan, plan.plain, nullptr, tile, rows);
}

} // namespace

void run_rows(const Plan &plan, const rownorm_io &io, int64_t rows, int64_t begin, int64_t end) noexcept {
    if (run_if_plain_tile(plan, io, begin, end))
        return;
    const DefaultFloatState state;
    const Segments segments(plan, io);
    const Strategy strategy = choose_strategy(plan, io, rows);
    Cursor c;
    while (begin < end) {
        const int64_t left = segments.rows_from(begin), here = end - begin < left ? end - begin : left;
        segments.set(c, begin);
        run_segment(plan, c, here, strategy);
        begin += here;
    }
    if (strategy.stream)
        finish_streaming();
}

} // namespace rownorm
