// SPDX-License-Identifier: Apache-2.0
// The second pass: y = t * w' (+ b) with t = x * rstd or (x - mean - delta) * rstd, rounded to y's type.
#pragma once

#include "lanes.hpp"

#include <rownorm/rownorm.h>

namespace {

using rownorm::Affine;
using rownorm::ApplyArguments;

// The elements of one row, and what is the same for all of them.
template <class X, class Y, class W, bool centred, Affine affine>
struct ApplyRow {
    using vec = typename X::vec;
    using pair = typename X::pair;
    using scalar = typename X::scalar;
    static constexpr int width = X::width;

    const typename X::value *x;
    typename Y::value *y;
    const typename W::value *w, *b;
    vec mean, delta, rstd, offset;
    uint32_t round;

    ROWNORM_INLINE ApplyRow(const ApplyArguments &a, int64_t r)
        : x(row_of<X>(a.x, r)), y(row_of<Y>(a.y, r)), w(row_of<W>(a.w, r)), b(row_of<W>(a.b, r)),
          mean(scalar(a.scale[r].mean)), delta(scalar(a.scale[r].delta)), rstd(scalar(a.scale[r].rstd)),
          offset(scalar(a.weight_offset)), round(a.round) {}

    ROWNORM_INLINE vec normalise(vec v) const { return (centred ? (v - mean) - delta : v) * rstd; }

    ROWNORM_INLINE pair rounded(pair t) const {
        if constexpr (sizeof(scalar) == 4) {
            if (round == ROWNORM_ROUND_TO_F16)
                return F16::unpack(F16::pack(t));
            if (round == ROWNORM_ROUND_TO_BF16)
                return Bf16::unpack(Bf16::pack(t));
        }
        return t;
    }

    // y of the pair at element i, from x there; the first `count` elements of it are in the row.
    ROWNORM_INLINE typename Y::packed at(int64_t i, typename X::packed packed, int count) const {
        const pair v = X::unpack(packed);
        pair t{normalise(v.a), normalise(v.b)};
        const auto gain = [&] {
            const pair g = W::unpack(load_packed<W>(w + i, count));
            return pair{g.a + offset, g.b + offset};
        };
        const auto bias = [&] { return W::unpack(load_packed<W>(b + i, count)); };
        if constexpr (affine == rownorm::kGeneral) {
            t = rounded(t);
            const bool has_gain = w != nullptr, has_bias = b != nullptr;
            if (has_gain && has_bias)
                t = scaled_and_shifted(t, gain(), bias());
            else if (has_gain)
                t = scaled(t, gain());
            else if (has_bias)
                t = shifted(t, bias());
        } else if constexpr (affine == rownorm::kGainBias) {
            t = scaled_and_shifted(t, gain(), bias());
        } else if constexpr (affine == rownorm::kGain) {
            t = scaled(t, gain());
        }
        return Y::pack(t);
    }

    static ROWNORM_INLINE pair scaled(pair t, pair g) { return {t.a * g.a, t.b * g.b}; }
    static ROWNORM_INLINE pair shifted(pair t, pair s) { return {t.a + s.a, t.b + s.b}; }
    static ROWNORM_INLINE pair scaled_and_shifted(pair t, pair g, pair s) {
        return {multiply_add(t.a, g.a, s.a), multiply_add(t.b, g.b, s.b)};
    }

    // A row that ends inside a pair ends with one more whole pair, over elements that the loop did before. Its
    // x is read before anything is stored, so that y may be x.
    template <class Store>
    ROWNORM_INLINE void run(int64_t n, Store store) const {
        const int64_t last = n - width;
        if (last < 0)
            return Y::store_first(y, at(0, X::load_first(x, int(n)), int(n)), int(n));
        const typename X::packed x_last = X::load(x + last);
        for (int64_t i = 0; i < n; i += width) {
            typename X::packed v = x_last;
            if (i > last)
                i = last;
            else
                v = X::load(x + i);
            store(i, at(i, v, width));
        }
    }

    ROWNORM_INLINE void run_near(int64_t n) const {
        run(
            n, [&](int64_t i, typename Y::packed v) __attribute__((always_inline)) { Y::store(y + i, v); });
    }

    // The row comes from and goes to memory: fetch the next one meanwhile, and store around the caches.
    ROWNORM_INLINE void run_far(int64_t n, const void *const (&prefetch)[2], bool stream) const {
        run(
            n, [&](int64_t i, typename Y::packed v) __attribute__((always_inline)) {
                for (const void *p : prefetch)
                    if (p)
                        for (int64_t byte = 0; byte < width * int(sizeof(*x)); byte += 64)
                            __builtin_prefetch(static_cast<const char *>(p) + i * int(sizeof(*x)) + byte, 0, 2);
                if (stream && i % width == 0)
                    Y::stream(y + i, v);
                else
                    Y::store(y + i, v);
            });
    }
};

template <class X, class Y, class W, bool centred, Affine affine>
void apply(const ApplyArguments &a) {
    const bool far = kFarRows && (a.stream || a.prefetch[0]);
    for (int64_t r = 0; r < a.rows; r++) {
        const ApplyRow<X, Y, W, centred, affine> row(a, r);
        if (far)
            row.run_far(a.n, a.prefetch, a.stream);
        else
            row.run_near(a.n);
    }
    if (a.stream)
        stream_fence();
}

} // namespace
