// SPDX-License-Identifier: Apache-2.0
// The sums over one row: of x, of x^2, of x + residual with what that gave, and for LayerNorm those of d = x - mean and
// d^2 (corrected two-pass: Chan, Golub and LeVeque, Algorithms for computing the sample variance, The American
// Statistician 37, 1983). Each is added to, chunk by chunk.
#pragma once

#include "lanes.hpp"

namespace {

// c + v. Where a multiply-add is one instruction, v * 1 + c, which is the same number, serves for the 16-bit types:
// their conversions take the units of the adders (AMD's Zen), and those of the multipliers would be idle.
template <class E>
ROWNORM_INLINE typename E::vec plus(typename E::vec c, typename E::vec v) {
    if constexpr (kFusedIsOneInstruction && sizeof(typename E::value) == 2)
        return fused(v, typename E::vec(typename E::scalar(1)), c);
    else
        return c + v;
}

// What follows takes a `beside`: see for_pairs().
template <class E, class Beside = Alone>
ROWNORM_INLINE void add_chunk(const typename E::value *p, int64_t elements, Lanes<E, lanes_of<E>> &lanes,
                              Beside beside = {}) {
    for_pairs<E>(
        elements,
        [&](auto k, int64_t i, int count) __attribute__((always_inline)) {
            const auto v = load_up_to<E>(p + i, count);
            lanes.a(k) = plus<E>(lanes.a(k), v.a);
            lanes.b(k) = plus<E>(lanes.b(k), v.b);
        },
        beside);
}

template <class E, class Beside = Alone>
ROWNORM_INLINE void add_squares_of_chunk(const typename E::value *p, int64_t elements, Lanes<E, lanes_of<E>> &lanes,
                                         Beside beside = {}) {
    for_pairs<E>(
        elements,
        [&](auto k, int64_t i, int count) __attribute__((always_inline)) {
            const auto v = load_up_to<E>(p + i, count);
            lanes.a(k) = E::add_square(v.a, lanes.a(k));
            lanes.b(k) = E::add_square(v.b, lanes.b(k));
            keep_in_register(lanes.a(k));
            keep_in_register(lanes.b(k));
        },
        beside);
}

// The sums of a chunk of d = x - m: 64 more lanes than those of its squares would not fit into AVX2's registers.
template <class E>
struct CentredLanes {
    Lanes<E, 32> linear;
    Lanes<E, lanes_of<E>> square;

    template <class Beside = Alone>
    ROWNORM_INLINE void add(const typename E::value *p, int64_t elements, typename E::vec m, Beside beside = {}) {
        for_pairs<E>(
            elements,
            [&](auto k, int64_t i, int count) __attribute__((always_inline)) {
                auto d = load_up_to<E>(p + i, count);
                if (count < E::width) {
                    d = E::keep_first({d.a - m, d.b - m}, count);
                    add(d.a, linear.a(k), square.a(k));
                    add(d.b, linear.b(k), square.b(k));
                } else { // one after the other, as 12 sums leave AVX2 four registers
                    add(d.a - m, linear.a(k), square.a(k));
                    add(d.b - m, linear.b(k), square.b(k));
                }
            },
            beside);
    }

private:
    static ROWNORM_INLINE void add(typename E::vec d, typename E::vec &linear, typename E::vec &square) {
        linear = plus<E>(linear, d);
        square = multiply_add(d, d, square);
        keep_in_register(linear);
        keep_in_register(square);
    }
};

// out = x + residual, rounded to the residual's type; the lanes add what was written, or its squares.
template <class X, class R, bool square, class Beside = Alone>
ROWNORM_INLINE void add_residual_of_chunk(const typename X::value *x, const typename R::value *residual,
                                          typename R::value *out, int64_t elements, Lanes<R, lanes_of<R>> &lanes,
                                          Beside beside = {}) {
    for_pairs<R>(
        elements,
        [&](auto k, int64_t i, int count) __attribute__((always_inline)) {
            const auto xv = load_up_to<X>(x + i, count);
            const auto rv = load_up_to<R>(residual + i, count);
            const typename R::pair both{xv.a + rv.a, xv.b + rv.b};
            if (count == R::width)
                R::store(out + i, both);
            else
                R::store_first(out + i, both, count);
            const auto s = R::round(both);
            lanes.a(k) = square ? R::add_square(s.a, lanes.a(k)) : lanes.a(k) + s.a;
            lanes.b(k) = square ? R::add_square(s.b, lanes.b(k)) : lanes.b(k) + s.b;
            keep_in_register(lanes.a(k));
            keep_in_register(lanes.b(k));
        },
        beside);
}

// The sums of whole rows: add(first element, elements, lanes) for each chunk.
template <class E, class F>
ROWNORM_INLINE void close_chunks(int64_t n, double &sum, F add) {
    for_chunks(
        n, [&](int64_t first, int64_t elements) __attribute__((always_inline)) {
            Lanes<E, lanes_of<E>> lanes;
            add(first, elements, lanes);
            sum += double(lanes.close());
        });
}

template <class E, class Beside = Alone>
ROWNORM_INLINE void add_elements(const typename E::value *row, int64_t n, double &sum, Beside beside = {}) {
    close_chunks<E>(
        n, sum, [&](int64_t first, int64_t elements, auto &lanes) __attribute__((always_inline)) {
            add_chunk<E>(row + first, elements, lanes, beside.from(first));
        });
}

template <class E, class Beside = Alone>
ROWNORM_INLINE void add_squares(const typename E::value *row, int64_t n, double &sum, Beside beside = {}) {
    close_chunks<E>(
        n, sum, [&](int64_t first, int64_t elements, auto &lanes) __attribute__((always_inline)) {
            add_squares_of_chunk<E>(row + first, elements, lanes, beside.from(first));
        });
}

template <class X, class R, bool square, class Beside = Alone>
ROWNORM_INLINE void add_residual(const typename X::value *x, const typename R::value *residual, typename R::value *out,
                                 int64_t n, double &sum, Beside beside = {}) {
    close_chunks<R>(
        n, sum, [&](int64_t first, int64_t elements, auto &lanes) __attribute__((always_inline)) {
            add_residual_of_chunk<X, R, square>(x + first, residual + first, out + first, elements, lanes,
                                                beside.from(first));
        });
}

template <class E, class Beside = Alone>
ROWNORM_INLINE void add_centred(const typename E::value *row, int64_t n, double mean, double &sum, double &squares,
                                Beside beside = {}) {
    const auto m = static_cast<typename E::vec>(static_cast<typename E::scalar>(mean));
    for_chunks(
        n, [&](int64_t first, int64_t elements) __attribute__((always_inline)) {
            CentredLanes<E> lanes;
            lanes.add(row + first, elements, m, beside.from(first));
            sum += double(lanes.linear.close());
            squares += double(lanes.square.close());
        });
}

} // namespace
