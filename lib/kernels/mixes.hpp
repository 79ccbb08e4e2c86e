// SPDX-License-Identifier: Apache-2.0
// The mixes of types that have kernels of both passes: one type for all; and, but where there are few kernels, 16-bit
// rows with a gain in f32, as it is often kept, and f32 rows that become bf16 for what follows.
#pragma once

#include "elements.hpp"

namespace {

template <class XType, class YType, class WType>
struct Mix {
    using X = XType;
    using Y = YType;
    using W = WType;
    rownorm::Type x, y, w;
};

// Calls f(Mix) for each.
template <class F>
constexpr void for_mixes(F f) {
    using namespace rownorm;
    f(Mix<F32, F32, F32>{kF32, kF32, kF32});
    f(Mix<F16, F16, F16>{kF16, kF16, kF16});
    f(Mix<Bf16EvenOdd, Bf16EvenOdd, Bf16EvenOdd>{kBf16, kBf16, kBf16});
    if constexpr (!kFewKernels) {
        f(Mix<F16, F16, F32>{kF16, kF16, kF32});
        f(Mix<Bf16, Bf16, F32>{kBf16, kBf16, kF32});
        f(Mix<F32, Bf16, F32>{kF32, kBf16, kF32});
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
