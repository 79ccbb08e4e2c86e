// SPDX-License-Identifier: Apache-2.0
// Sums in virtual lanes. Element i of a chunk adds to lane i mod L, whatever the vector width, and one
// fixed tree closes the chunk: lane j adds lane j + L/2, then + L/4, ... + 1. That order is what makes
// the bits of a sum equal on every ISA; L is 64 for f32 and 32 for f64 (DESIGN of the numerics: README).
#pragma once

#include "../kernel_table.hpp"
#include "elements.hpp"

namespace {

using rownorm::kChunk;

// A loop index that is a constant, so that what it selects is a register.
template <int k>
struct Index {
    static constexpr int value = k;
};

// f(Index<0>), ... f(Index<count - 1>), until one of them returns false.
template <int count, int k = 0, class F>
ROWNORM_INLINE void for_indices(F f) {
    if constexpr (k < count)
        if (f(Index<k>{}))
            for_indices<count, k + 1>(f);
}

// L lanes of the element type E, as the registers that hold them in E's order.
template <class E, int L>
struct Lanes {
    using vec = typename E::vec;
    static constexpr int count = L / E::lanes;
    vec v[count];

    ROWNORM_INLINE Lanes() {
        for_indices<count>([&](auto i) __attribute__((always_inline)) {
            v[i.value] = vec(typename E::scalar(0));
            return true;
        });
    }

    // Pair k of a block of lanes; blocks longer than L wrap around.
    template <int k>
    ROWNORM_INLINE vec &a(Index<k>) {
        return v[(2 * k) % count];
    }
    template <int k>
    ROWNORM_INLINE vec &b(Index<k>) {
        return v[(2 * k + 1) % count];
    }
    ROWNORM_INLINE vec &a(int k) { return v[(2 * k) % count]; }
    ROWNORM_INLINE vec &b(int k) { return v[(2 * k + 1) % count]; }

    // All but the tree inside of a vector: what is left of it is in v[0], of even and odd lanes in v[0] and v[1].
    ROWNORM_INLINE void close_down_to_vectors() { halve<count / 2>(); }

    ROWNORM_INLINE typename E::scalar close() {
        close_down_to_vectors();
        if constexpr (E::is_even_odd) // the step of 1: each even lane adds the odd one beside it
            return fold(v[0]) + fold(v[1]);
        else
            return fold(v[0]);
    }

private:
    template <int half>
    ROWNORM_INLINE void halve() {
        if constexpr (half >= (E::is_even_odd ? 2 : 1)) {
            for_indices<half>([&](auto i) __attribute__((always_inline)) {
                v[i.value] = v[i.value] + v[i.value + half];
                return true;
            });
            halve<half / 2>();
        }
    }
};

template <class E>
constexpr int lanes_of = 256 / int(sizeof(typename E::scalar)); // 64 in f32, 32 in f64

// What a loop over pairs does beside, once a block of lanes: nothing.
struct Alone {
    ROWNORM_INLINE void operator()(int64_t) const {}
    ROWNORM_INLINE Alone from(int64_t) const { return {}; }
};

// Calls f(k, i, count) for the pairs of a chunk in order: pair k of its block, at element i, `count` elements of
// it in the chunk (a constant E::width for all but the last). Unrolled, with each lane in a register, k is an
// Index; where the lanes do not fit into the registers it is an int, and they stay in memory. After each whole
// unrolled block it calls beside(first element of the block).
template <class E, class F, class Beside = Alone>
ROWNORM_INLINE void for_pairs(int64_t n, F f, Beside beside = {}) {
    constexpr int pairs = lanes_of<E> / E::width;
    int64_t i = 0;
    if constexpr (!kLanesInRegisters) {
        int k = 0;
        for (; i + E::width <= n; i += E::width, k = (k + 1) % pairs)
            f(k, i, E::width);
        if (i < n)
            f(k, i, int(n - i));
        return;
    }
    for (; i <= n - lanes_of<E>; i += lanes_of<E>) {
        for_indices<pairs>([&](auto k) __attribute__((always_inline)) {
            f(k, i + k.value * E::width, E::width);
            return true;
        });
        beside(i);
    }
    for_indices<pairs>([&](auto k) __attribute__((always_inline)) {
        const int64_t at = i + k.value * E::width, left = n - at;
        if (left <= 0)
            return false;
        f(k, at, left < E::width ? int(left) : E::width);
        return true;
    });
}

// Calls chunk(first element, elements) for each chunk of a row.
template <class F>
ROWNORM_INLINE void for_chunks(int64_t n, F chunk) {
    for (int64_t i = 0; i < n; i += kChunk)
        chunk(i, n - i < kChunk ? n - i : kChunk);
}

template <class E>
ROWNORM_INLINE typename E::pair load_up_to(const typename E::value *p, int count) {
    return count == E::width ? E::load(p) : E::load_first(p, count);
}

// In integers, as the row after the last one may be nowhere.
template <class E>
ROWNORM_INLINE const typename E::value *row_of(rownorm::Rows rows, int64_t r) {
    return reinterpret_cast<const typename E::value *>(reinterpret_cast<uintptr_t>(rows.data) +
                                                       uint64_t(r * rows.stride));
}
template <class E>
ROWNORM_INLINE typename E::value *row_of(rownorm::MutableRows rows, int64_t r) {
    return reinterpret_cast<typename E::value *>(reinterpret_cast<uintptr_t>(rows.data) + uint64_t(r * rows.stride));
}

} // namespace
