// SPDX-License-Identifier: Apache-2.0
// A plan: everything about a computation that does not depend on where the rows are.
#pragma once

#include "dispatch.hpp"

#include <rownorm/rownorm.h>

namespace rownorm {

// A number of elements to divide by. Multiplying by the inverse of a power of two gives the same bits, sooner.
struct Count {
    double value, inverse; // the inverse is 0 unless it is exact

    Count() = default;
    explicit Count(int64_t n) : value(double(n)), inverse((n & (n - 1)) == 0 ? 1.0 / double(n) : 0.0) {}
};
inline double operator/(double sum, const Count &count) {
    return count.inverse != 0 ? sum * count.inverse : sum / count.value;
}

// How the rows that are normalised (x, or x + residual in the residual's type) are read.
struct RowKernels {
    Type type;
    SumKernel sum; // of x^2, for LayerNorm of x
    CentredKernel centred;
    const ApplyKernel *apply; // that of kNone; the others follow at this distance
    int64_t affine_step;
};

} // namespace rownorm

struct rownorm_plan {
    const rownorm::Isa *isa;
    rownorm_op op;
    rownorm_l2_eps l2_eps;
    uint32_t round;
    uint32_t max_threads;
    int64_t n, k;
    double eps, weight_offset; // as the arithmetic uses them
    rownorm::Count elements;   // k
    rownorm::Type x, residual, y, weight;
    int64_t x_bytes, y_bytes, weight_bytes; // of a row
    int64_t most_bytes;                     // that a row reads and writes, with a residual written back
    uint64_t misaligned;                    // bits that no address of the widest element type has
    rownorm::AddKernel add;
    rownorm::RowKernels plain, added; // without and with a residual
};

namespace rownorm {

using Plan = rownorm_plan;

constexpr int64_t bytes_of(Type type) { return type == kF64 ? 8 : type == kF32 ? 4 : 2; }

// The kind of kernel that serves a gain and a bias, either of which may be absent.
constexpr Affine affine_of(const Plan &plan, bool gain, bool bias) {
    if (plan.round || (bias && !gain))
        return kGeneral;
    return bias ? kGainBias : gain ? kGain : kNone;
}

// Checks a descriptor and makes a plan of it.
rownorm_status make_plan(Plan &plan, const rownorm_descriptor *descriptor) noexcept;

// The plan of a one-line call: one type, default ISA, n >= 1 and eps checked here.
rownorm_status make_plan(Plan &plan, rownorm_op op, Type type, int64_t n, float eps) noexcept;

} // namespace rownorm
