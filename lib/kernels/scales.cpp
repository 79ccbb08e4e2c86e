// SPDX-License-Identifier: Apache-2.0
// The first pass over a tile of short rows, to what they are scaled by: for those of any types of y and of the gain.
#include "closing.hpp"

namespace {

using rownorm::MutableRows;
using rownorm::Scale;

// Calls close(first row, rows, scales) for as many rows at a time as a vector has lanes.
template <bool centred, class F>
ROWNORM_INLINE bool in_groups(int64_t rows, Scale *scale, F close) {
    bool all_fit = true;
    for (int64_t first = 0; first < rows; first += S) {
        const int64_t left = rows - first, here = left < S ? left : S;
        Scales scales;
        all_fit &= close(first, here, scales);
        for (int64_t j = 0; j < here; j++) {
            if constexpr (centred) {
                scale[first + j].mean = double(scales.mean[j]);
                scale[first + j].delta = double(scales.delta[j]);
            }
            scale[first + j].rstd = double(scales.rstd[j]);
        }
    }
    return all_fit;
}

// There is nothing to do meanwhile, when a tile's first pass is a call of its own.
constexpr auto nothing = []() __attribute__((always_inline)){};

template <class E>
bool squares(Rows x, int64_t rows, const Formula &formula, Scale *scale) {
    const UnderRoot root = rownorm::under_root_of_squares(formula);
    return in_groups<false>(
        rows, scale, [&](int64_t first, int64_t here, Scales & to) __attribute__((always_inline)) {
            return scale_by_squares<E>(
                here, formula, root, to,
                [&](int64_t j, auto &lanes) __attribute__((always_inline)) {
                    add_squares_of_chunk<E>(row_of<E>(x, first + j), formula.k, lanes);
                },
                nothing);
        });
}

template <class E>
bool add_squares(Rows x, Rows residual, MutableRows out, int64_t rows, const Formula &formula, Scale *scale) {
    const UnderRoot root = rownorm::under_root_of_squares(formula);
    return in_groups<false>(
        rows, scale, [&](int64_t first, int64_t here, Scales & to) __attribute__((always_inline)) {
            return scale_by_squares<E>(
                here, formula, root, to,
                [&](int64_t j, auto &lanes) __attribute__((always_inline)) {
                    const int64_t row = first + j;
                    add_residual_of_chunk<E, E, true>(row_of<E>(x, row), row_of<E>(residual, row), row_of<E>(out, row),
                                                      formula.n, lanes);
                },
                nothing);
        });
}

template <class E>
bool variance(Rows x, int64_t rows, const Formula &formula, Scale *scale) {
    return in_groups<true>(
        rows, scale, [&](int64_t first, int64_t here, Scales & to) __attribute__((always_inline)) {
            return scale_by_variance<E>(x, first, here, formula, to, nothing);
        });
}

} // namespace

extern const rownorm::ScaleKernels ROWNORM_SYMBOL(scales);
const rownorm::ScaleKernels ROWNORM_SYMBOL(scales) = {
    {squares<F32>, squares<F16>, squares<Bf16EvenOdd>},
    {variance<F32>, variance<F16>, variance<Bf16EvenOdd>},
    {add_squares<F32>, add_squares<F16>, add_squares<Bf16EvenOdd>},
    S / 2,
};
