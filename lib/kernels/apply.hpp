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
    vec mean, delta, rstd;
    const vec offset;
    const uint32_t round;

    ROWNORM_INLINE explicit ApplyRow(const ApplyArguments &a)
        : x(row_of<X>(a.x, 0)), y(row_of<Y>(a.y, 0)), w(row_of<W>(a.w, 0)), b(row_of<W>(a.b, 0)), mean(scalar(0)),
          delta(scalar(0)), rstd(scalar(0)), offset(scalar(a.weight_offset)), round(a.round) {}
    // For kGain and kGainBias.
    ROWNORM_INLINE ApplyRow(const typename X::value *from, typename Y::value *to, const typename W::value *gain,
                            const typename W::value *bias)
        : x(from), y(to), w(gain), b(bias), mean(scalar(0)), delta(scalar(0)), rstd(scalar(0)), offset(scalar(-0.0)),
          round(0) {}

    ROWNORM_INLINE void scale_by(const rownorm::Scale &scale) {
        mean = vec(scalar(scale.mean));
        delta = vec(scalar(scale.delta));
        rstd = vec(scalar(scale.rstd));
    }

    ROWNORM_INLINE void advance(int64_t x_stride, int64_t y_stride, int64_t w_stride, int64_t b_stride) {
        x = row_of<X>({x, x_stride}, 1);
        y = row_of<Y>(rownorm::MutableRows{y, y_stride}, 1);
        w = row_of<W>({w, w_stride}, 1);
        b = row_of<W>({b, b_stride}, 1);
    }

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

    // y of the pair at element i, from x there.
    ROWNORM_INLINE pair at(int64_t i, pair v) const {
        pair t{normalise(v.a), normalise(v.b)};
        const auto gain = [&]() __attribute__((always_inline))->pair {
            const pair g = W::load(w + i);
            if constexpr (affine == rownorm::kOffsetGain || affine == rownorm::kGeneral)
                return pair{g.a + offset, g.b + offset};
            else
                return g;
        };
        const auto bias = [&]() __attribute__((always_inline)) { return W::load(b + i); };
        if constexpr (affine == rownorm::kGeneral) {
            t = rounded(t);
            if (w && b)
                return scaled_and_shifted(t, gain(), bias());
            if (w)
                return scaled(t, gain());
            return b ? shifted(t, bias()) : t;
        } else if constexpr (affine == rownorm::kGainBias) {
            return scaled_and_shifted(t, gain(), bias());
        } else if constexpr (affine == rownorm::kGain || affine == rownorm::kOffsetGain) {
            return scaled(t, gain());
        } else {
            return t;
        }
    }

    static ROWNORM_INLINE pair scaled(pair t, pair g) { return {t.a * g.a, t.b * g.b}; }
    static ROWNORM_INLINE pair shifted(pair t, pair s) { return {t.a + s.a, t.b + s.b}; }
    static ROWNORM_INLINE pair scaled_and_shifted(pair t, pair g, pair s) {
        return {multiply_add(t.a, g.a, s.a), multiply_add(t.b, g.b, s.b)};
    }

    // A row shorter than a pair: on copies.
    void run_short(int64_t n) {
        typename X::value x_copy[width] = {};
        typename W::value w_copy[width] = {}, b_copy[width] = {};
        for (int64_t i = 0; i < n; i++) {
            x_copy[i] = x[i];
            w_copy[i] = w ? w[i] : w_copy[i];
            b_copy[i] = b ? b[i] : b_copy[i];
        }
        w = w ? w_copy : nullptr;
        b = b ? b_copy : nullptr;
        typename Y::value y_copy[width];
        Y::store(y_copy, at(0, X::load(x_copy)));
        for (int64_t i = 0; i < n; i++)
            y[i] = y_copy[i];
    }

    ROWNORM_INLINE void run_pair(int64_t i) const { Y::store(y + i, at(i, X::load(x + i))); }

    // Whole pairs from element i on.
    ROWNORM_INLINE void run_near(int64_t i, int64_t n) const {
        if constexpr (!kFewKernels)
            for (; i + 2 * width <= n; i += 2 * width) {
                run_pair(i);
                run_pair(i + width);
            }
        for (; i + width <= n; i += width)
            run_pair(i);
    }

    // A row that ends inside a pair ends with a whole pair over elements that `rest` does, too. It is made before
    // anything is stored, so that y may be x.
    template <class Rest>
    ROWNORM_INLINE void around_end(int64_t n, bool ragged, Rest rest) const {
        pair end;
        if (ragged)
            end = at(n - width, X::load(x + n - width));
        rest();
        if (ragged)
            Y::store(y + n - width, end);
    }

    // The pairs at both ends, over elements that the loop between them does, too, are made before anything is stored,
    // so that y may be x.
    ROWNORM_INLINE void run_misaligned(int64_t n) const {
        const int64_t last = n - width;
        const pair head = at(0, X::load(x)), end = at(last, X::load(x + last));
        run_near(int64_t((-reinterpret_cast<uintptr_t>(y) & (sizeof(vec) - 1)) / sizeof(*y)), n);
        Y::store(y, head);
        Y::store(y + last, end);
    }

    // The row comes from and goes to memory: fetch the next one meanwhile, and store around the caches.
    ROWNORM_INLINE void run_far(int64_t n, const char *next_x, const char *next_residual,
                                const ApplyArguments &a) const {
        if (a.to_l1)
            run_far<3>(n, next_x, next_residual, a.stream);
        else
            run_far<2>(n, next_x, next_residual, a.stream);
    }

    // With `locality` of __builtin_prefetch: 3 is for L1, 2 for L2. The next residual is fetched where an add takes so
    // many instructions that few of its loads are under way at once: of bf16 by AVX2, and of long rows to memory.
    // Elsewhere that would cost more than it brings.
    template <int locality>
    ROWNORM_INLINE void run_far(int64_t n, const char *next_x, const char *next_residual, bool stream) const {
        const bool long_add = X::is_even_odd && (S <= 8 || (locality == 2 && stream));
        for (int64_t i = 0; i + width <= n; i += width) {
            const pair v = at(i, X::load(x + i));
            prefetch<locality>(next_x, i);
            if (long_add && next_residual)
                prefetch<2>(next_residual, i);
            if (stream)
                Y::stream(y + i, v);
            else
                Y::store(y + i, v);
        }
    }

    template <int locality>
    static ROWNORM_INLINE void prefetch(const char *row, int64_t i) {
        for (int byte = 0; byte < width * int(sizeof(typename X::value)); byte += 64)
            __builtin_prefetch(row + i * int64_t(sizeof(typename X::value)) + byte, 0, locality);
    }
};

template <class Row>
[[gnu::noinline]] void apply_short(const ApplyArguments &a) {
    Row row(a);
    for (int64_t r = 0; r < a.rows; r++) {
        Row copy = row;
        copy.scale_by(a.scale[r]);
        copy.run_short(a.n);
        row.advance(a.x.stride, a.y.stride, a.w.stride, a.b.stride);
    }
}

// Long rows that begin anywhere: the loop over each begins where y is aligned to a vector, as a store across two cache
// lines takes two.
template <class Row>
[[gnu::noinline]] void apply_misaligned(const ApplyArguments &a) {
    Row row(a);
    for (int64_t r = 0; r < a.rows; r++) {
        row.scale_by(a.scale[r]);
        row.run_misaligned(a.n);
        row.advance(a.x.stride, a.y.stride, a.w.stride, a.b.stride);
    }
}

// `places` has the bits of y's address and stride.
template <class Row>
ROWNORM_INLINE bool worth_aligning(int64_t n, uint64_t places) {
    return !kFewKernels && n >= 16 * Row::width &&
           places % sizeof(typename Row::vec); // enough to pay for one more pair
}

template <class X, class Y, class W, bool centred, Affine affine>
void apply(const ApplyArguments &a) {
    using Row = ApplyRow<X, Y, W, centred, affine>;
    const bool far = kFarRows && affine != rownorm::kGeneral && a.next_x;
    const int64_t n = a.n;
    if (n < Row::width)
        return apply_short<Row>(a);
    if (affine != rownorm::kGeneral && !far &&
        worth_aligning<Row>(n, reinterpret_cast<uintptr_t>(a.y.data) | uint64_t(a.y.stride)))
        return apply_misaligned<Row>(a);
    const bool ragged = n % Row::width;
    // Copies, as y might be where the arguments are, for all that the compiler knows.
    const int64_t x_stride = a.x.stride, y_stride = a.y.stride, w_stride = a.w.stride, b_stride = a.b.stride;
    const rownorm::Scale *scale = a.scale, *const end_of_rows = scale + a.rows;
    Row row(a);
    for (int64_t ahead = 0; scale != end_of_rows; ahead += x_stride) {
        row.scale_by(*scale++);
        row.around_end(
            n, ragged, [&]() __attribute__((always_inline)) {
                if (far)
                    row.run_far(n, a.next_x + ahead, a.next_residual ? a.next_residual + ahead : nullptr, a);
                else
                    row.run_near(0, n);
            });
        row.advance(x_stride, y_stride, w_stride, b_stride);
    }
}

} // namespace
