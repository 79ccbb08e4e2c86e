// SPDX-License-Identifier: Apache-2.0
// A plan: everything about a computation that does not depend on where the rows are.
#pragma once

#include "dispatch.hpp"
#include "machine.hpp"

namespace rownorm {

// The kind of kernel that serves a gain and a bias, either of which may be absent. LayerNorm has no kernel of its
// own for a weight offset, which no model gives it.
constexpr Affine affine_of(const Formula &formula, bool gain, bool bias) {
    if (formula.round || (bias && !gain))
        return kGeneral;
    if (gain && formula.weight_offset != 0)
        return bias || formula.op == ROWNORM_LAYER_NORM ? kGeneral : kOffsetGain;
    return bias ? kGainBias : gain ? kGain : kNone;
}

// From short rows to what they are scaled by, in one call for a tile of at least `fewest` rows. NULL where there is
// none.
struct ShortRowKernels {
    ScaleKernel scale;
    AddScaleKernel add; // a residual of the type of x
    int64_t fewest;
};

// How the rows that are normalised (x, or x + residual in the residual's type) are read.
struct RowKernels {
    Type type;
    SumKernel sum; // of x^2, for LayerNorm of x
    CentredKernel centred;
    ShortRowKernels of_short;
    bool ahead;               // rows are to be summed before those before them are written
    const ApplyKernel *apply; // that of kNone; the others follow at this distance
    int64_t affine_step;

    ApplyKernel apply_of(const Formula &formula, bool gain, bool bias) const {
        return apply[affine_of(formula, gain, bias) * affine_step];
    }
};

// Both passes in one call; NULL where there are none. For a gain, and LayerNorm for a gain and a bias.
struct WholeRowKernels {
    OneRowKernel one;
    ShortRowsKernel several;
    bool is_f32; // all of it
};

} // namespace rownorm

struct rownorm_plan : rownorm::Formula {
    const rownorm::Isa *isa;
    uint32_t max_threads;
    rownorm::Type x, residual, y, weight;
    int64_t x_bytes, y_bytes, weight_bytes; // of a row
    int64_t most_bytes;                     // that a row reads and writes, with a residual written back
    uint64_t misaligned;                    // bits that no address of the widest element type has
    rownorm::AddKernel add;
    rownorm::RowKernels plain, added;             // without and with a residual
    rownorm::RowKernels streamed, streamed_added; // where y is stored around the caches
    rownorm::WholeRowKernels whole, whole_added;

    const rownorm::RowKernels &rows_of(const rownorm_io &io, bool stream = false) const {
        if (io.residual.data)
            return stream ? streamed_added : added;
        return stream ? streamed : plain;
    }
};

namespace rownorm {

using Plan = rownorm_plan;

constexpr int64_t kShortRow = 2 << 10; // bytes; some of them lie in L1 or near it

constexpr int64_t bytes_of(Type type) { return type == kF64 ? 8 : type == kF32 ? 4 : 2; }
constexpr bool is_short(Type type, int64_t n) { return n <= kChunk && n * bytes_of(type) <= kShortRow; }

// What is summed and what is written meanwhile are to lie in L1, but for what else there is. A tile of short rows has
// more to hide.
inline bool may_run_ahead(const RowKind &row) {
    const int64_t element =
        bytes_of(row.x) * (row.adds ? 4 : 2) + bytes_of(row.y) + bytes_of(row.weight) * (row.centred ? 2 : 1);
    return row.n * bytes_of(row.x) <= kShortRow || row.n <= machine().l1 / 16 * 15 / element;
}

// count_of(), as a call: a compiler may move a division ahead of what masks its traps, in the function that does so.
Count counted(int64_t n) noexcept;

// Checks a descriptor and makes a plan of it.
rownorm_status make_plan(Plan &plan, const rownorm_descriptor *descriptor) noexcept;

// The kernels for rows of a kind: with f32 arithmetic, and any.
inline RowKernels f32_kernels_of(const KernelTable &kernels, const RowKind &row) {
    const StatisticsKernels &statistics = *kernels.statistics;
    const ScaleKernels &scales = *kernels.scales;
    const ShortRowKernels of_short = {row.centred ? scales.variance[row.x] : scales.squares[row.x],
                                      row.adds && !row.centred ? scales.add_squares[row.x] : nullptr, scales.fewest};
    return {row.x,
            (row.centred ? statistics.sum : statistics.sum_squares)[row.x],
            statistics.centred[row.x],
            is_short(row.x, row.n) ? of_short : ShortRowKernels{},
            may_run_ahead(row),
            &kernels.apply[row.x]->apply[row.centred][kNone][row.y][row.weight],
            kHalfAndF32Types * kHalfAndF32Types};
}
inline RowKernels kernels_of(const KernelTable &kernels, const RowKind &row) {
    if (row.x != kF64)
        return f32_kernels_of(kernels, row);
    const StatisticsKernels &statistics = *kernels.statistics;
    return {kF64,
            (row.centred ? statistics.sum : statistics.sum_squares)[kF64],
            statistics.centred[kF64],
            ShortRowKernels{},
            may_run_ahead(row),
            kernels.apply_f64->apply[row.centred],
            1};
}

// For rows all of which counts, without a residual or with one of their type.
inline WholeRowKernels whole_row_kernels_of(const KernelTable &kernels, const RowKind &row) {
    if (row.centred && row.adds)
        return {};
    const auto choose = [&](const auto &of) {
        return (row.centred ? of.layer_norm : row.adds ? of.add_rms_norm : of.rms_norm)[row.x][row.y][row.weight];
    };
    return {choose(*kernels.one_row), is_short(row.x, row.n) ? choose(*kernels.short_rows) : nullptr,
            row.x == kF32 && row.y == kF32 && row.weight == kF32};
}

} // namespace rownorm
