// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include "finish.hpp"
#include "plain_rows.hpp"
#include "recomputed_row.hpp"
#include "strategy.hpp"

#include <type_traits>

namespace rownorm {
namespace {

// Any rows along one dimension, with all that an io can ask for.
class SegmentWork {
public:
    SegmentWork(const Plan &plan, Cursor &c, const Strategy &strategy, int64_t rows)
        : plan_(plan), c_(c), strategy_(strategy), rows_(rows), x_(c.x), residual_(c.residual),
          // The sum of x and the residual goes to residual_out, or to y, which is as good a place until it is y.
          sum_(c.residual_out.data ? c.residual_out : c.to.y) {}

    void run() { run_tiles(*this, rows_, rows_per_tile(plan_.n), strategy_.ahead); }

    void sum(int64_t row, int64_t rows, Tile &t) {
        t.clear(rows);
        if (c_.adds())
            add(row, rows, t.sums);
        else
            c_.kernels->sum(step(x_, row), rows, plan_.k, t.sums);
    }

    bool close(int64_t row, int64_t rows, Tile &t) {
        t.all_fit = close_tile(plan_, c_.kernels->centred, summed(row), rows, t);
        return true;
    }

    void write(int64_t row, int64_t rows, const Tile &t) {
        if (strategy_.fetch_next)
            fetch(row + rows);
        finish_rows(plan_, c_, summed(row), rows, t);
        c_.advance(plan_, rows);
    }

private:
    template <class R>
    static R step(R rows, int64_t row) {
        return at(rows, row * rows.stride);
    }
    Rows summed(int64_t row) const { return step(c_.adds() ? as_input(sum_) : x_, row); }

    // Writes x + residual, and adds to the sums of the first k elements.
    void add(int64_t row, int64_t rows, double *sums) {
        const Rows x = step(x_, row), residual = step(residual_, row);
        const MutableRows sum = step(sum_, row);
        plan_.add(x, residual, sum, rows, plan_.k, sums);
        if (plan_.k == plan_.n)
            return;
        double unused[kTile] = {};
        const int64_t skip_x = plan_.k * bytes_of(plan_.x), skip = plan_.k * bytes_of(plan_.residual);
        plan_.add(at(x, skip_x), at(residual, skip), at(sum, skip), rows, plan_.n - plan_.k, unused);
    }

    // Has the rows from `row` on fetched while a tile is written.
    void fetch(int64_t row) {
        const bool exists = row < rows_;
        c_.to.next_x = exists ? static_cast<const char *>(step(x_, row).data) : nullptr;
        c_.to.next_residual = exists ? static_cast<const char *>(step(residual_, row).data) : nullptr;
        c_.to.stream = strategy_.stream && exists;
    }

    const Plan &plan_;
    Cursor &c_;
    const Strategy &strategy_;
    const int64_t rows_;
    const Rows x_, residual_;
    const MutableRows sum_;
};

void run_segment(const Plan &plan, Cursor &c, int64_t rows, const Strategy &strategy) {
    const bool sum_has_no_place = c.adds() && !c.residual_out.data && plan.y != plan.residual;
    if (!sum_has_no_place)
        SegmentWork(plan, c, strategy, rows).run();
    else
        for (; rows; rows--, c.advance(plan, 1))
            run_recomputed_row(plan, c);
}

// Rows along one dimension, without statistics; a residual of the type of x, written back in place and all of it
// summed.
bool are_plain(const Plan &plan, const rownorm_io &io) {
    if (io.extent[0] != 1 || io.extent[1] != 1 || io.mean || io.rstd)
        return false;
    return !io.residual.data ||
           (plan.x == plan.residual && plan.k == plan.n && io.residual_out.data == io.residual.data &&
            io.residual_out.stride_bytes[2] == io.residual.stride_bytes[2]);
}

PlainRows plain_rows(const rownorm_io &io, int64_t begin) {
    const auto from_begin = [begin](auto *data, const int64_t *strides) {
        if constexpr (std::is_const_v<std::remove_pointer_t<decltype(data)>>)
            return at(Rows{data, strides[2]}, begin * strides[2]);
        else
            return at(MutableRows{data, strides[2]}, begin * strides[2]);
    };
    return {from_begin(io.x.data, io.x.stride_bytes), from_begin(io.residual_out.data, io.residual_out.stride_bytes),
            from_begin(io.y.data, io.y.stride_bytes), from_begin(io.w.data, io.w.stride_bytes),
            from_begin(io.b.data, io.b.stride_bytes)};
}

// How many of them it did; it stops at a tile of which the residual, if any, is the sum already.
int64_t run_plain(const Plan &plan, const rownorm_io &io, int64_t begin, int64_t end) {
    return run_plain_rows(plan, plan.plain, plan.add, plain_rows(io, begin), end - begin);
}

// Rows from `begin` on, by a kernel for a single row if they have one. Stops at one that is not normalised, and says
// what became of it.
OneRow run_one_by_one(const Plan &plan, const rownorm_io &io, int64_t &begin, int64_t end) {
    const OneRowKernel normalise = io.residual.data ? plan.one_added_row : plan.one_row;
    const bool needs_bias = plan.op == ROWNORM_LAYER_NORM;
    if (!normalise || !io.w.data || bool(io.b.data) != needs_bias)
        return kUntouched;
    const DefaultFloatState state;
    for (; begin < end; begin++) {
        const PlainRows at = plain_rows(io, begin);
        const OneRow became =
            normalise(at.x.data, at.residual.data, at.y.data, at.w.data, at.b.data, plan.n, plan.eps, plan.elements);
        if (became != kNormalised)
            return became;
    }
    return kNormalised;
}

void run_any(const Plan &plan, const rownorm_io &io, const Strategy &strategy, int64_t begin, int64_t end) {
    const DefaultFloatState state;
    const Segments segments(plan, io);
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

// The rows that the short way left, from the tile at which it stopped.
[[gnu::noinline, gnu::cold]] void run_rest(const Plan &plan, const rownorm_io &io, const Strategy &strategy,
                                           int64_t begin, int64_t end) {
    if (io.residual.data) {
        const int64_t tile = rows_per_tile(plan.n), tile_end = end - begin < tile ? end : begin + tile;
        rownorm_io summed = io;
        summed.x = io.residual;
        summed.residual.data = nullptr;
        summed.residual_out.data = nullptr;
        run_any(plan, summed, strategy, begin, tile_end);
        begin = tile_end;
    }
    run_any(plan, io, strategy, begin, end);
}

} // namespace

void run_rows(const Plan &plan, const rownorm_io &io, int64_t rows, int64_t begin, int64_t end) noexcept {
    if (begin >= end)
        return;
    const Strategy strategy = choose_strategy(plan, io, rows, end - begin);
    if (strategy.fetch_next || !are_plain(plan, io))
        return run_any(plan, io, strategy, begin, end);
    const bool one_by_one = end - begin == 1 || !strategy.ahead;
    const OneRow last = one_by_one ? run_one_by_one(plan, io, begin, end) : kUntouched;
    if (last == kUntouched)
        begin += run_plain(plan, io, begin, end);
    if (begin < end)
        run_rest(plan, io, strategy, begin, end);
}

} // namespace rownorm
