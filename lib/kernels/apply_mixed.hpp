// SPDX-License-Identifier: Apache-2.0
// The kernels of apply.hpp for one type of x and every type of y and of w: what apply_<type>.cpp exports.
#pragma once

#include "apply.hpp"

namespace {

using rownorm::ApplyKernel;

template <class E>
constexpr bool is_f16 = false;
template <>
constexpr bool is_f16<F16> = true;

// Mixes of f16 with bf16, which no model has, are nearly half of all, and get by with one kernel for every gain and
// bias.
template <Affine affine, class... Types>
constexpr Affine for_mix = (is_f16<Types> || ...) && (is_bf16<Types> || ...) ? rownorm::kGeneral : affine;

// The even-odd order of bf16 where every type of the loop has it.
template <class X, class Y, class W, bool centred, Affine affine>
constexpr ApplyKernel ordered() {
    if constexpr (is_bf16<X> && is_bf16<Y> && is_bf16<W>)
        return apply<Bf16EvenOdd, Bf16EvenOdd, Bf16EvenOdd, centred, affine>;
    else if constexpr (affine == rownorm::kNone) // no w: one kernel serves every type of it
        return apply<X, Y, F32, centred, for_mix<affine, X, Y>>;
    else
        return apply<X, Y, W, centred, for_mix<affine, X, Y, W>>;
}

template <class X, bool centred, Affine affine>
constexpr void fill(ApplyKernel (&to)[3][3]) {
    const ApplyKernel kernels[3][3] = {
        {ordered<X, F32, F32, centred, affine>(), ordered<X, F32, F16, centred, affine>(),
         ordered<X, F32, Bf16, centred, affine>()},
        {ordered<X, F16, F32, centred, affine>(), ordered<X, F16, F16, centred, affine>(),
         ordered<X, F16, Bf16, centred, affine>()},
        {ordered<X, Bf16, F32, centred, affine>(), ordered<X, Bf16, F16, centred, affine>(),
         ordered<X, Bf16, Bf16, centred, affine>()},
    };
    for (int y = 0; y < 3; y++)
        for (int w = 0; w < 3; w++)
            to[y][w] = kernels[y][w];
}

template <class X, bool centred>
constexpr void fill(ApplyKernel (&to)[rownorm::kAffines][3][3]) {
    using namespace rownorm;
    fill<X, centred, kFewKernels ? kGeneral : kNone>(to[kNone]);
    fill<X, centred, kFewKernels ? kGeneral : kGain>(to[kGain]);
    fill<X, centred, kFewKernels || centred ? kGeneral : kOffsetGain>(to[kOffsetGain]);
    fill<X, centred, kFewKernels ? kGeneral : kGainBias>(to[kGainBias]);
    fill<X, centred, kGeneral>(to[kGeneral]);
}

template <class X>
constexpr rownorm::ApplyKernels apply_kernels() {
    rownorm::ApplyKernels kernels{};
    fill<X, false>(kernels.apply[0]);
    fill<X, true>(kernels.apply[1]);
    return kernels;
}

} // namespace
