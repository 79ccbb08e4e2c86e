// SPDX-License-Identifier: Apache-2.0
// The fused add: s = x + residual in f32, rounded to the residual's type, is written, and the sum that the
// norm needs is taken of what was written, so that the bits are those of an add and a norm one after the other.
#include "sums.hpp"

namespace {

using rownorm::MutableRows;
using rownorm::Rows;

template <class X, class R, bool square>
void add(Rows x, Rows residual, MutableRows out, int64_t rows, int64_t n, double *sums) {
    for (int64_t r = 0; r < rows; r++)
        add_residual<X, R, square>(row_of<X>(x, r), row_of<R>(residual, r), row_of<R>(out, r), n, sums[r]);
}

template <bool square>
constexpr rownorm::AddKernel mixes[3][3] = {
    {add<F32, F32, square>, add<F32, F16, square>, add<F32, Bf16, square>},
    {add<F16, F32, square>, add<F16, F16, square>, add<F16, Bf16, square>},
    {add<Bf16, F32, square>, add<Bf16, F16, square>, add<Bf16EvenOdd, Bf16EvenOdd, square>},
};

#define ROWNORM_MIXES(square)                                                                                          \
    {                                                                                                                  \
        {mixes<square>[0][0], mixes<square>[0][1], mixes<square>[0][2]},                                               \
            {mixes<square>[1][0], mixes<square>[1][1], mixes<square>[1][2]}, {                                         \
            mixes<square>[2][0], mixes<square>[2][1], mixes<square>[2][2]                                              \
        }                                                                                                              \
    }

} // namespace

extern const rownorm::ResidualKernels ROWNORM_SYMBOL(residual);
const rownorm::ResidualKernels ROWNORM_SYMBOL(residual) = {
    ROWNORM_MIXES(false),
    ROWNORM_MIXES(true),
    add<F64, F64, false>,
    add<F64, F64, true>,
};
