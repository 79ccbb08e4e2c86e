// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include "float_state.hpp"
#include "redo.hpp"
#include "scale.hpp"
#include "strategy.hpp"

namespace rownorm {
namespace {

// Short rows are taken through each pass in tiles, so that the latency of one row's sum, root and division
// is hidden by the next row's work; longer ones go one by one.
constexpr int64_t kTile = 16;
constexpr int64_t kTileElements = 256;

// The rows at hand: pointers to the first, and the strides of the innermost dimension.
struct Cursor {
    Rows x, residual, w, b;
    MutableRows residual_out, y;
    char *mean, *rstd; // one value a row, in row order
    // The rows after those of this tile, to be fetched meanwhile, or NULL; and how y is stored.
    const char *next_x, *next_residual;
    bool stream;
};

struct Tile {
    double sums[kTile];
    double squares[kTile]; // LayerNorm: of x - centre
    double centre[kTile];  // LayerNorm: the first estimate of the mean
    double mean[kTile];    // as reported
    Scale scale[kTile];
    bool fits[kTile]; // the usual arithmetic holds the row

    explicit Tile(int64_t rows) {
        sums[0] = 0; // apart, as a loop alone becomes a call of memset, which costs as much as a tiny row
        for (int64_t r = 1; r < rows; r++)
            sums[r] = 0;
    }
};

Rows at(Rows rows, int64_t offset) {
    return {rows.data ? static_cast<const char *>(rows.data) + offset : nullptr, rows.stride};
}
MutableRows at(MutableRows rows, int64_t offset) {
    return {rows.data ? static_cast<char *>(rows.data) + offset : nullptr, rows.stride};
}
Rows as_input(MutableRows rows) { return {rows.data, rows.stride}; }

int64_t statistic_bytes(const Plan &plan) { return plan.x == kF64 ? 8 : 4; }

Cursor advanced(const Plan &plan, const Cursor &c, int64_t rows) {
    const int64_t statistics = rows * statistic_bytes(plan);
    return {at(c.x, rows * c.x.stride),
            at(c.residual, rows * c.residual.stride),
            at(c.w, rows * c.w.stride),
            at(c.b, rows * c.b.stride),
            at(c.residual_out, rows * c.residual_out.stride),
            at(c.y, rows * c.y.stride),
            c.mean ? c.mean + statistics : nullptr,
            c.rstd ? c.rstd + statistics : nullptr,
            nullptr,
            nullptr,
            false};
}

// f32 arithmetic takes a statistic as an f32.
double as_computed(const Plan &plan, double v) { return plan.x == kF64 ? v : double(float(v)); }

bool is_large_enough(const Plan &plan, double root_argument) {
    return !(root_argument < (plan.x == kF64 ? 0x1p-900 : 0x1p-100)); // else underflow may have cost digits
}

void put(char *statistics, const Plan &plan, int64_t row, double v) {
    if (!statistics)
        return;
    if (plan.x == kF64)
        reinterpret_cast<double *>(statistics)[row] = v;
    else
        reinterpret_cast<float *>(statistics)[row] = float(v);
}

void put_statistics(const Plan &plan, const Cursor &c, int64_t row, double mean, double rstd) {
    put(c.mean, plan, row, mean);
    put(c.rstd, plan, row, rstd);
}

// Closes RMSNorm and L2Norm rows from t.sums. True if all rows fit.
bool close_squares(const Plan &plan, int64_t rows, Tile &t) {
    bool all_fit = true;
    for (int64_t r = 0; r < rows; r++) {
        const Root root = root_of_squares(plan, t.sums[r], plan.eps, plan.eps);
        t.scale[r] = {0, 0, as_computed(plan, root.factor)};
        t.fits[r] = is_finite_number(t.sums[r]) && is_large_enough(plan, root.argument);
        all_fit &= t.fits[r];
    }
    return all_fit;
}

// LayerNorm's first estimate of the mean, from t.sums, which are then cleared for the centred sums.
void estimate_means(const Plan &plan, int64_t rows, Tile &t) {
    for (int64_t r = 0; r < rows; r++) {
        t.fits[r] = is_finite_number(t.sums[r]);
        t.centre[r] = as_computed(plan, t.sums[r] / double(plan.n));
        t.sums[r] = t.squares[r] = 0;
    }
}

// Closes LayerNorm rows from the centred sums. True if all rows fit.
bool close_centred(const Plan &plan, int64_t rows, Tile &t) {
    bool all_fit = true;
    for (int64_t r = 0; r < rows; r++) {
        const Root root = root_of_variance(plan, t.sums[r], t.squares[r], plan.eps);
        const double delta = t.sums[r] / double(plan.n);
        t.mean[r] = t.centre[r] + delta;
        t.scale[r] = {t.centre[r], as_computed(plan, delta), as_computed(plan, root.factor)};
        t.fits[r] = t.fits[r] && is_finite_number(t.sums[r]) && is_finite_number(t.squares[r]) &&
                    is_large_enough(plan, root.argument);
        all_fit &= t.fits[r];
    }
    return all_fit;
}

// Writes x + residual to `out`, and adds to the sums of the first k elements.
void add_residual(const Plan &plan, const Cursor &c, MutableRows out, int64_t rows, double *sums) {
    plan.add(c.x, c.residual, out, rows, plan.k, sums);
    if (plan.k == plan.n)
        return;
    double unused[kTile] = {};
    const int64_t x = plan.k * bytes_of(plan.x), s = plan.k * bytes_of(plan.residual);
    plan.add(at(c.x, x), at(c.residual, s), at(out, s), rows, plan.n - plan.k, unused);
}

ApplyKernel apply_kernel(const Plan &plan, const RowKernels &kernels, const Cursor &c) {
    return kernels.apply[affine_of(plan, c.w.data, c.b.data)];
}

void apply(const Plan &plan, const RowKernels &kernels, const Cursor &c, Rows s, int64_t rows, const Scale *scale) {
    apply_kernel(plan, kernels, c)(
        {s, c.y, c.w, c.b, rows, plan.n, scale, plan.weight_offset, plan.round, c.next_x, c.next_residual, c.stream});
}

// A row that does not fit. RowData says where it is.
void redo(const Plan &plan, const Cursor &c, const RowData &row, const Scale &usual, double usual_mean) {
    if (plan.x == kF64) {
        Scale scale;
        if (redo_scaled(plan, row, scale)) {
            put_statistics(plan, c, 0, scale.mean, scale.rstd);
        } else {
            apply(plan, plan.plain, c, {row.x, 0}, 1, &usual);
            put_statistics(plan, c, 0, usual_mean, usual.rstd);
        }
        return;
    }
    const Scale scale = redo_in_f64(plan, row);
    put_statistics(plan, c, 0, scale.mean + scale.delta, scale.rstd);
}

void finish_rows(const Plan &plan, const RowKernels &kernels, const Cursor &c, Rows s, int64_t rows, const Tile &t) {
    apply(plan, kernels, c, s, rows, t.scale);
    if (c.mean || c.rstd)
        for (int64_t r = 0; r < rows; r++)
            put_statistics(plan, c, r, t.mean[r], t.scale[r].rstd);
}

// Where some row of a tile does not fit: one by one.
[[gnu::noinline, gnu::cold]] void finish_one_by_one(const Plan &plan, const RowKernels &kernels, const Cursor &tile,
                                                    Rows s, int64_t rows, const Tile &t) {
    for (int64_t r = 0; r < rows; r++) {
        const Cursor c = advanced(plan, tile, r);
        const Rows row = at(s, r * s.stride);
        if (t.fits[r]) {
            apply(plan, kernels, c, row, 1, &t.scale[r]);
            put_statistics(plan, c, 0, t.mean[r], t.scale[r].rstd);
        } else {
            redo(plan, c, {row.data, nullptr, kernels.type, kernels.type, c.w.data, c.b.data, c.y.data}, t.scale[r],
                 t.mean[r]);
        }
    }
}

// Closes and writes the tile, whose rows are in memory at `s` and their sums in t.sums.
void finish_tile(const Plan &plan, const RowKernels &kernels, const Cursor &c, Rows s, int64_t rows, Tile &t) {
    bool all_fit;
    if (plan.op == ROWNORM_LAYER_NORM) {
        estimate_means(plan, rows, t);
        kernels.centred(s, rows, plan.n, t.centre, t.sums, t.squares);
        all_fit = close_centred(plan, rows, t);
    } else {
        all_fit = close_squares(plan, rows, t);
    }
    if (__builtin_expect(all_fit, 1))
        finish_rows(plan, kernels, c, s, rows, t);
    else
        finish_one_by_one(plan, kernels, c, s, rows, t);
}

// A residual whose sum has no place in memory: it is not written back, and y is of another type. One row; the
// sum is made again in a small buffer, chunk by chunk, for each pass.
class RecomputedRow {
public:
    RecomputedRow(const Plan &plan, const Cursor &c) : plan_(plan), c_(c) {}

    void run() {
        Tile t(1);
        bool fits;
        for_chunks(plan_.k, [&](int64_t first, int64_t n) { make(first, n, t.sums); });
        if (plan_.op == ROWNORM_LAYER_NORM) {
            estimate_means(plan_, 1, t);
            double unused = 0;
            for_chunks(plan_.n, [&](int64_t first, int64_t n) {
                plan_.added.centred(make(first, n, &unused), 1, n, t.centre, t.sums, t.squares);
            });
            fits = close_centred(plan_, 1, t);
        } else {
            fits = close_squares(plan_, 1, t);
        }
        if (fits)
            write(t);
        else
            redo(plan_, c_, {c_.x.data, c_.residual.data, plan_.x, plan_.residual, c_.w.data, c_.b.data, c_.y.data},
                 t.scale[0], t.mean[0]);
    }

private:
    template <class F>
    static void for_chunks(int64_t n, F chunk) {
        for (int64_t i = 0; i < n; i += kChunk)
            chunk(i, n - i < kChunk ? n - i : kChunk);
    }

    Rows make(int64_t first, int64_t n, double *sum) {
        const int64_t x = first * bytes_of(plan_.x), s = first * bytes_of(plan_.residual);
        plan_.add(at(c_.x, x), at(c_.residual, s), {buffer_, 0}, 1, n, sum);
        return {buffer_, 0};
    }

    void write(const Tile &t) {
        const ApplyKernel kernel = apply_kernel(plan_, plan_.added, c_);
        for_chunks(plan_.n, [&](int64_t first, int64_t n) {
            double unused = 0;
            const Rows s = make(first, n, &unused);
            const int64_t y = first * bytes_of(plan_.y), w = first * bytes_of(plan_.weight);
            kernel({s, at(c_.y, y), at(c_.w, w), at(c_.b, w), 1, n, t.scale, plan_.weight_offset, plan_.round, nullptr,
                    nullptr, false});
        });
        put_statistics(plan_, c_, 0, t.mean[0], t.scale[0].rstd);
    }

    const Plan &plan_;
    const Cursor &c_;
    alignas(64) char buffer_[kChunk * 4];
};

[[gnu::noinline]] void run_recomputed(const Plan &plan, const Cursor &c, int64_t rows) {
    for (int64_t r = 0; r < rows; r++)
        RecomputedRow(plan, advanced(plan, c, r)).run();
}

void run_tile(const Plan &plan, const Cursor &c, int64_t rows) {
    const bool adds = c.residual.data, written = c.residual_out.data;
    if (adds && !written && plan.y != plan.residual)
        return run_recomputed(plan, c, rows);
    Tile t(rows);
    Rows s = c.x;
    if (adds) {
        const MutableRows sum = written ? c.residual_out : c.y; // y is as good a place, until it is y
        add_residual(plan, c, sum, rows, t.sums);
        s = as_input(sum);
    } else {
        plan.plain.sum(c.x, rows, plan.k, t.sums);
    }
    finish_tile(plan, adds ? plan.added : plan.plain, c, s, rows, t);
}

void run_segment(const Plan &plan, Cursor &c, int64_t rows, const Strategy &strategy) {
    const int64_t tile = plan.n <= kTileElements ? kTile : 1;
    while (rows > tile) {
        const Cursor next = advanced(plan, c, tile);
        if (strategy.fetch_next) {
            c.next_x = static_cast<const char *>(next.x.data);
            c.next_residual = static_cast<const char *>(next.residual.data);
            c.stream = strategy.stream;
        }
        run_tile(plan, c, tile);
        rows -= tile;
        c = next;
    }
    run_tile(plan, c, rows);
}

// The rows of an io in order, as segments along its innermost dimension that has more than one row.
class Segments {
public:
    Segments(const Plan &plan, const rownorm_io &io) : plan_(plan), io_(io) {
        while (inner_ > 0 && io.extent[inner_] == 1)
            inner_--;
    }

    // Rows left in the segment that row `row` is in.
    int64_t rows_from(int64_t row) const {
        const int64_t inner = io_.extent[inner_];
        return row == 0 ? inner : inner - row % inner;
    }

    Cursor at_row(int64_t row) const {
        const int64_t statistics = row * statistic_bytes(plan_);
        Cursor c{{io_.x.data, io_.x.stride_bytes[inner_]},
                 {io_.residual.data, io_.residual.stride_bytes[inner_]},
                 {io_.w.data, io_.w.stride_bytes[inner_]},
                 {io_.b.data, io_.b.stride_bytes[inner_]},
                 {io_.residual_out.data, io_.residual_out.stride_bytes[inner_]},
                 {io_.y.data, io_.y.stride_bytes[inner_]},
                 io_.mean ? static_cast<char *>(io_.mean) + statistics : nullptr,
                 io_.rstd ? static_cast<char *>(io_.rstd) + statistics : nullptr,
                 nullptr,
                 nullptr,
                 false};
        for (int d = inner_; d >= 0 && row > 0; d--) {
            const int64_t index = d == 0 ? row : row % io_.extent[d];
            row = d == 0 ? 0 : row / io_.extent[d];
            c.x = at(c.x, index * io_.x.stride_bytes[d]);
            c.residual = at(c.residual, index * io_.residual.stride_bytes[d]);
            c.w = at(c.w, index * io_.w.stride_bytes[d]);
            c.b = at(c.b, index * io_.b.stride_bytes[d]);
            c.residual_out = at(c.residual_out, index * io_.residual_out.stride_bytes[d]);
            c.y = at(c.y, index * io_.y.stride_bytes[d]);
        }
        return c;
    }

private:
    const Plan &plan_;
    const rownorm_io &io_;
    int inner_ = 2;
};

} // namespace

void run_rows(const Plan &plan, const rownorm_io &io, int64_t begin, int64_t end) noexcept {
    const DefaultFloatState state;
    const Segments segments(plan, io);
    const Strategy strategy = choose_strategy(plan, io);
    while (begin < end) {
        const int64_t left = segments.rows_from(begin), rows = end - begin < left ? end - begin : left;
        Cursor c = segments.at_row(begin);
        run_segment(plan, c, rows, strategy);
        begin += rows;
    }
    if (strategy.stream)
        finish_streaming();
}

} // namespace rownorm
