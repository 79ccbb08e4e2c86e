// SPDX-License-Identifier: Apache-2.0
// Sums in virtual lanes. Element i of a chunk adds to lane i mod L, whatever the vector width, and one
// fixed tree closes the chunk: lane j adds lane j + L/2, then + L/4, ... + 1. That order is what makes
// the bits of a sum equal on every ISA; L is 64 for f32 and 32 for f64 (DESIGN of the numerics: README).
#pragma once

#include "../kernel_table.hpp"
#include "elements.hpp"

namespace {

using rownorm::kChunk;

// L lanes of the element type E, as the registers that hold them in E's order.
template <class E, int L>
struct Lanes {
    static constexpr int count = L / E::lanes;
    typename E::vec v[count];

    ROWNORM_INLINE Lanes() {
        for (int i = 0; i < count; i++)
            v[i] = typename E::vec(typename E::scalar(0));
    }

    // Pair k of a block of lanes; blocks longer than L wrap around.
    ROWNORM_INLINE typename E::vec &a(int k) { return v[(2 * k) % count]; }
    ROWNORM_INLINE typename E::vec &b(int k) { return v[(2 * k + 1) % count]; }

    ROWNORM_INLINE typename E::scalar close() {
        constexpr int last = E::is_even_odd ? 2 : 1;
        for (int half = count / 2; half >= last; half /= 2)
            for (int i = 0; i < half; i++)
                v[i] = v[i] + v[i + half];
        if constexpr (E::is_even_odd) // the step of 1: each even lane adds the odd one beside it
            return fold(v[0]) + fold(v[1]);
        else
            return fold(v[0]);
    }
};

template <class E>
constexpr int lanes_of = 256 / int(sizeof(typename E::scalar)); // 64 in f32, 32 in f64

// Calls f(k, i, count) for the pairs of a chunk in order: pair k of its block, at element i, `count`
// elements of it in the chunk (a constant E::width for all but the last).
template <class E, class F>
ROWNORM_INLINE void for_pairs(int64_t n, F f) {
    constexpr int pairs = lanes_of<E> / E::width;
    int64_t i = 0;
    for (; i + lanes_of<E> <= n; i += lanes_of<E>)
#pragma GCC unroll 8
        for (int k = 0; k < pairs; k++)
            f(k, i + k * E::width, E::width);
    if (i == n)
        return;
#pragma GCC unroll 8
    for (int k = 0; k < pairs; k++, i += E::width) {
        if (i + E::width > n) {
            if (i < n)
                f(k, i, int(n - i));
            return;
        }
        f(k, i, E::width);
    }
}

// Calls chunk(first element, elements) for each chunk of a row.
template <class F>
ROWNORM_INLINE void for_chunks(int64_t n, F chunk) {
    for (int64_t i = 0; i < n; i += kChunk)
        chunk(i, n - i < kChunk ? n - i : kChunk);
}

template <class E>
ROWNORM_INLINE typename E::packed load_packed(const typename E::value *p, int count) {
    return count == E::width ? E::load(p) : E::load_first(p, count);
}

template <class E>
ROWNORM_INLINE const typename E::value *row_of(rownorm::Rows rows, int64_t r) {
    return reinterpret_cast<const typename E::value *>(static_cast<const char *>(rows.data) + r * rows.stride);
}
template <class E>
ROWNORM_INLINE typename E::value *row_of(rownorm::MutableRows rows, int64_t r) {
    return reinterpret_cast<typename E::value *>(static_cast<char *>(rows.data) + r * rows.stride);
}

} // namespace
