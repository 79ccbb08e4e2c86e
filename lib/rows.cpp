// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include "finish.hpp"
#include "float_state.hpp"
#include "plain_rows.hpp"
#include "recomputed_row.hpp"
#include "strategy.hpp"

namespace rownorm {
namespace {

// Any rows along one dimension, with all that an io can ask for.
class SegmentWork {
public:
    SegmentWork(const Plan &plan, Cursor &c, const Strategy &strategy, int64_t rows)
        : plan_(plan), c_(c), strategy_(strategy), rows_(rows), x_(c.x), residual_(c.residual),
          // The sum of x and the residual goes to residual_out, or to y, which is as good a place until it is y.
          sum_(c.residual_out.data ? c.residual_out : c.to.y) {}

    void run() { run_tiles(*this, rows_, rows_per_tile(plan_.n * bytes_of(c_.kernels->type)), strategy_.ahead); }

    void sum(int64_t row, int64_t rows, Tile &t) {
        const bool needs_sums = c_.mean && plan_.op == ROWNORM_LAYER_NORM; // for the mean that is reported
        if (!needs_sums &&
            scale_short_rows(plan_, *c_.kernels, from(x_, row), from(residual_, row), from(sum_, row), rows, t))
            return;
        t.clear(rows);
        if (fetches_in_first_pass())
            in_fetching_chunks(row, [&](int64_t first, int64_t n) { sum_piece(row, 1, first, n, t.sums); });
        else if (c_.adds())
            add(row, rows, t.sums);
        else
            sum_piece(row, rows, 0, plan_.k, t.sums);
    }

    bool close(int64_t row, int64_t rows, Tile &t) {
        if (strategy_.fetch_early && !fetches_in_first_pass()) {
            estimate_means(plan_, 1, t);
            in_fetching_chunks(row, [&](int64_t first, int64_t n) {
                c_.kernels->centred(piece(summed(row), first, c_.kernels->type), 1, n, t.centre, t.sums, t.squares);
            });
            t.all_fit = close_centred(plan_, 1, t);
        } else {
            t.all_fit = close_tile(plan_, c_.kernels->centred, summed(row), rows, t);
        }
        return true;
    }

    void write(int64_t row, int64_t rows, const Tile &t) {
        if (strategy_.far)
            fetch(row, row + rows);
        finish_rows(plan_, c_, summed(row), rows, t);
        c_.advance(plan_, rows);
    }

private:
    Rows summed(int64_t row) const { return from(c_.adds() ? as_input(sum_) : x_, row); }

    // From an element of each row on.
    template <class R>
    static R piece(R rows, int64_t first, Type type) {
        return at(rows, first * bytes_of(type));
    }

    // Adds to the sums of n elements of rows from `first` on; where there is a residual, its sum with x is written.
    void sum_piece(int64_t row, int64_t rows, int64_t first, int64_t n, double *sums) {
        const Rows x = piece(from(x_, row), first, plan_.x);
        if (c_.adds())
            plan_.add(x, piece(from(residual_, row), first, plan_.residual),
                      piece(from(sum_, row), first, plan_.residual), rows, n, sums);
        else
            c_.kernels->sum(x, rows, n, sums);
    }

    // All of x + residual, of which the first k elements are summed.
    void add(int64_t row, int64_t rows, double *sums) {
        sum_piece(row, rows, 0, plan_.k, sums);
        double unused[kTile] = {};
        if (plan_.k < plan_.n)
            sum_piece(row, rows, plan_.k, plan_.n - plan_.k, unused);
    }

    // LayerNorm's other pass, which needs a second reading of x anyway, is the later one.
    bool fetches_in_first_pass() const {
        return strategy_.fetch_early && (c_.adds() || plan_.op != ROWNORM_LAYER_NORM);
    }

    // Calls sum(first element, elements) for each chunk of a row, once that of the row after it is on its way.
    template <class F>
    void in_fetching_chunks(int64_t row, F sum) {
        const bool has_next = row + 1 < rows_;
        for (int64_t first = 0; first < plan_.n; first += kChunk) {
            const int64_t n = plan_.n - first < kChunk ? plan_.n - first : kChunk;
            if (has_next)
                fetch_piece(piece(from(x_, row + 1), first, plan_.x), n * bytes_of(plan_.x));
            if (has_next && c_.adds())
                fetch_piece(piece(from(residual_, row + 1), first, plan_.residual), n * bytes_of(plan_.residual));
            sum(first, n);
        }
    }

    static void fetch_piece(Rows piece, int64_t bytes) {
        constexpr int64_t line = 64;
        for (int64_t byte = 0; byte < bytes; byte += line)
            __builtin_prefetch(static_cast<const char *>(piece.data) + byte, 0, 2);
    }

    // Has the rows from `next` on fetched while those from `row` on are written; or what is written from, which is near
    // and costs nothing.
    void fetch(int64_t row, int64_t next) {
        const bool exists = next < rows_, fetched = exists && strategy_.fetch_next;
        c_.to.next_x = exists ? static_cast<const char *>((fetched ? from(x_, next) : summed(row)).data) : nullptr;
        c_.to.next_residual = fetched ? static_cast<const char *>(from(residual_, next).data) : nullptr;
        c_.to.to_l1 = strategy_.fetch_to_l1;
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

// Where row `row` begins; nullptr for a tensor that is not there.
template <class Tensor>
auto in_row(const Tensor &tensor, int64_t row) -> decltype(tensor.data) {
    const auto address = reinterpret_cast<uintptr_t>(tensor.data);
    return address ? reinterpret_cast<decltype(tensor.data)>(address + uint64_t(row * tensor.stride_bytes[2]))
                   : nullptr;
}

RowSet row_set(const rownorm_io &io, int64_t begin) {
    return {{in_row(io.x, begin), stride_of(io.x, 2)},
            {in_row(io.residual_out, begin), stride_of(io.residual_out, 2)},
            {in_row(io.y, begin), stride_of(io.y, 2)},
            {in_row(io.w, begin), stride_of(io.w, 2)},
            {in_row(io.b, begin), stride_of(io.b, 2)}};
}

// The kernels that take these rows through both passes in one call, if there are.
WholeRowKernels whole_row_kernels(const Plan &plan, const rownorm_io &io) {
    const bool needs_bias = plan.op == ROWNORM_LAYER_NORM;
    if (!io.w.data || bool(io.b.data) != needs_bias)
        return {};
    return io.residual.data ? plan.whole_added : plan.whole;
}

void run_any(const Plan &plan, const rownorm_io &io, const Strategy &strategy, int64_t begin, int64_t end) {
    const DefaultFloatState state;
    const Segments segments(plan, io, plan.rows_of(io, strategy.stream));
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

// The rows that the short way left: of the first `summed` ones the residual is the sum already.
[[gnu::noinline, gnu::cold]] void run_rest(const Plan &plan, const rownorm_io &io, const Strategy &strategy,
                                           int64_t begin, int64_t end, int64_t summed) {
    if (summed) {
        rownorm_io sums = io;
        sums.x = io.residual;
        sums.residual.data = nullptr;
        sums.residual_out.data = nullptr;
        run_any(plan, sums, strategy, begin, begin + summed);
        begin += summed;
    }
    run_any(plan, io, strategy, begin, end);
}

// A row alone, as a decoder has them, by a kernel for just that.
OneRow run_one_row(const Plan &plan, const rownorm_io &io, int64_t row) {
    const OneRowKernel normalise = are_plain(plan, io) ? whole_row_kernels(plan, io).one : nullptr;
    if (!normalise)
        return kUntouched;
    const DefaultFloatState state;
    return normalise(in_row(io.x, row), in_row(io.residual_out, row), in_row(io.y, row), in_row(io.w, row),
                     in_row(io.b, row), plan.n, plan.eps);
}

} // namespace

void run_rows(const Plan &plan, const rownorm_io &io, int64_t rows, int64_t begin, int64_t end) noexcept {
    if (begin >= end)
        return;
    const OneRow alone = end - begin == 1 ? run_one_row(plan, io, begin) : kUntouched;
    if (alone == kNormalised)
        return;
    const Strategy strategy = choose_strategy(plan, io, rows, end - begin);
    if (alone == kSummed)
        return run_rest(plan, io, strategy, begin, end, io.residual.data ? 1 : 0);
    if (strategy.far || !are_plain(plan, io))
        return run_any(plan, io, strategy, begin, end);
    const DefaultFloatState state;
    const RowsDone done =
        run_plain_rows(plan, plan.rows_of(io), plan.add, whole_row_kernels(plan, io), row_set(io, begin), end - begin);
    if (begin + done.normalised < end)
        run_rest(plan, io, strategy, begin + done.normalised, end, done.summed);
}

} // namespace rownorm
