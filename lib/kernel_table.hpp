// SPDX-License-Identifier: Apache-2.0
// The vocabulary between the two worlds: code compiled for every CPU calls code compiled for one ISA
// through the pointers of a KernelTable, and knows nothing else of it.
//
// All kernels take element pointers as void, strides in bytes (multiples of the element's size) and
// sizes in elements; none of them checks anything. They assume the default floating-point state.
#pragma once

#include "formula.hpp"

#include <cstddef>
#include <cstdint>

namespace rownorm {

enum Type : uint32_t { kF32, kF16, kBf16, kF64 };
constexpr int kHalfAndF32Types = 3; // those that mix with each other
constexpr int kTypes = 4;

// A sum is closed every kChunk elements: the one granularity at which a row may be cut.
constexpr int64_t kChunk = 1024;

struct Rows {
    const void *data;
    int64_t stride; // bytes
};
struct MutableRows {
    void *data;
    int64_t stride; // bytes
};

// t = (x - mean - delta) * rstd, or x * rstd without centring. f32 kernels use each as an f32, which it is.
struct Scale {
    double mean, delta, rstd;
};

// Per row r: sums[r] += the sum over n elements, chunk by chunk.
using SumKernel = void (*)(Rows x, int64_t rows, int64_t n, double *sums);

// With d = x - mean[r]: sums[r] += sum of d, squares[r] += sum of d*d.
using CentredKernel = void (*)(Rows x, int64_t rows, int64_t n, const double *mean, double *sums, double *squares);

// s = x + residual, rounded to the residual's type, is written to `out` (which may be x or residual),
// and sums[r] += the sum of s or of s*s.
using AddKernel = void (*)(Rows x, Rows residual, MutableRows out, int64_t rows, int64_t n, double *sums);

// From up to a chunk of each of a tile's rows (the first k elements, for all but LayerNorm) to what the rows are scaled
// by; the second one writes out = x + residual first. False if the usual arithmetic does not hold all of them.
using ScaleKernel = bool (*)(Rows x, int64_t rows, const Formula &formula, Scale *scale);
using AddScaleKernel = bool (*)(Rows x, Rows residual, MutableRows out, int64_t rows, const Formula &formula,
                                Scale *scale);

// y = t, t * w, t * (offset + w), t * w + b, and kGeneral: whatever is there, also rounding before the gain.
enum Affine : uint32_t { kNone, kGain, kOffsetGain, kGainBias, kGeneral };
constexpr int kAffines = 5;

struct ApplyArguments {
    Rows x;
    MutableRows y; // may be x
    Rows w, b;     // NULL for what the Affine does not use
    int64_t rows, n;
    const Scale *scale;   // one a row
    double weight_offset; // for kOffsetGain and kGeneral; -0.0 for none: w + -0.0 is w, also for w = -0.0
    uint32_t round;       // kGeneral: a rownorm_round
    // For rows that come from memory: where the next ones begin, which are fetched meanwhile, as far on as x goes, to
    // L2, or with to_l1 to L1; next_residual may be NULL. With stream, y is stored around the caches: y and its stride
    // are multiples of 64 bytes.
    const char *next_x, *next_residual;
    bool to_l1, stream;
};
using ApplyKernel = void (*)(const ApplyArguments &);

// Both passes over one row of n elements: what became of it. The residual is written back, by the kernels that add one.
// Only a row that the usual arithmetic holds is normalised; those that the other kernels serve better stay untouched.
enum OneRow : uint32_t { kUntouched, kSummed, kNormalised };
using OneRowKernel = OneRow (*)(const void *x, void *residual, void *y, const void *w, const void *b, int64_t n,
                                double eps);

// The rows along one dimension, and what they are normalised with.
struct RowSet {
    Rows x;
    MutableRows residual; // which is added to x and written back; data is NULL for none
    MutableRows y;
    Rows w, b;
};

// Both passes over rows of at most a chunk, several at a time; y may be x. It stops before the rows of which the usual
// arithmetic does not hold one, and leaves those that the other kernels serve better.
struct RowsDone {
    int64_t normalised;
    int64_t summed; // after those: rows whose residual is the sum already
};
using ShortRowsKernel = RowsDone (*)(const RowSet &at, int64_t rows, const Formula &formula);

// One family a file: which kernels an object file of lib/kernels exports.
struct StatisticsKernels {
    SumKernel sum[kTypes];
    SumKernel sum_squares[kTypes];
    CentredKernel centred[kTypes];
};
struct ResidualKernels { // [x][residual]
    AddKernel add_sum[kHalfAndF32Types][kHalfAndF32Types];
    AddKernel add_sum_squares[kHalfAndF32Types][kHalfAndF32Types];
    AddKernel add_sum_f64, add_sum_squares_f64;
};
struct ApplyKernels { // for one type of x: [centred][affine][y][w]
    ApplyKernel apply[2][kAffines][kHalfAndF32Types][kHalfAndF32Types];
};
struct F64ApplyKernels { // [centred][affine]
    ApplyKernel apply[2][kAffines];
};

// RMSNorm with a gain, LayerNorm with a gain and a bias: [x][y][w], x being what is added to it, too. NULL for mixes of
// types that are rare.
template <class Kernel>
struct ByMix {
    using Kernels = Kernel[kHalfAndF32Types][kHalfAndF32Types][kHalfAndF32Types];
    Kernels rms_norm, add_rms_norm, layer_norm;
};
using OneRowKernels = ByMix<OneRowKernel>;
using ShortRowsKernels = ByMix<ShortRowsKernel>; // those of RMSNorm are for L2Norm, too

struct ScaleKernels { // by the type of the rows, and of the residual
    ScaleKernel squares[kHalfAndF32Types], variance[kHalfAndF32Types];
    AddScaleKernel add_squares[kHalfAndF32Types];
    int64_t fewest; // rows that are worth it
};

struct KernelTable {
    const StatisticsKernels *statistics;
    const ResidualKernels *residual;
    const ApplyKernels *apply[kHalfAndF32Types];
    const F64ApplyKernels *apply_f64;
    const OneRowKernels *one_row;
    const ShortRowsKernels *short_rows;
    const ScaleKernels *scales;
};

} // namespace rownorm
