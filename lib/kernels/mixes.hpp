// SPDX-License-Identifier: Apache-2.0
// The mixes of types that have kernels of both passes: one type for all; and, but where there are few kernels, 16-bit
// rows with a gain in f32, as it is often kept, and f32 rows that become bf16 for what follows.
#pragma once

#include "elements.hpp"

namespace {

template <class E>
constexpr rownorm::Type type_of = rownorm::kBf16;
template <>
constexpr rownorm::Type type_of<F32> = rownorm::kF32;
template <>
constexpr rownorm::Type type_of<F16> = rownorm::kF16;

template <class X, class Y, class W>
struct Mix {
    static constexpr rownorm::Type x = type_of<X>, y = type_of<Y>, w = type_of<W>;
};

// Calls f(Mix) for each.
template <class F>
constexpr void for_mixes(F f) {
    f(Mix<F32, F32, F32>{});
    f(Mix<F16, F16, F16>{});
    f(Mix<Bf16EvenOdd, Bf16EvenOdd, Bf16EvenOdd>{});
    if constexpr (!kFewKernels) {
        f(Mix<F16, F16, F32>{});
        f(Mix<Bf16, Bf16, F32>{});
        f(Mix<F32, Bf16, F32>{});
    }
}

// Rows of X as they are summed: bf16 in the even-odd order, whatever y and w are.
template <class X>
struct Summed {
    using type = X;
};
template <>
struct Summed<Bf16> {
    using type = Bf16EvenOdd;
};
template <class X>
using summed = typename Summed<X>::type;

} // namespace
