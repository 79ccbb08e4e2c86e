// SPDX-License-Identifier: Apache-2.0
// Both passes over short rows, such as the heads of queries and keys: as many at a time as a vector has lanes, so that
// the last steps of their sums' trees, their roots and divisions are taken of all of them at once. One type for all.
#include "apply.hpp"
#include "sums.hpp"

namespace {

using rownorm::Count;
using rownorm::kAbove;
using rownorm::kBelow;
using rownorm::Rows;
using rownorm::RowsDone;

// What is left of the lanes of up to S rows, to be closed together.
template <class E>
class Sums {
public:
    template <int L>
    ROWNORM_INLINE void set(int64_t row, Lanes<E, L> &lanes) {
        lanes.close_down_to_vectors();
        a_[row] = lanes.v[0];
        if constexpr (E::is_even_odd)
            b_[row] = lanes.v[1];
    }

    // One a lane; lanes without a row repeat the first.
    ROWNORM_INLINE VF close(int64_t rows) {
        for (int64_t row = rows; row < S; row++) {
            a_[row] = a_[0];
            if constexpr (E::is_even_odd)
                b_[row] = b_[0];
        }
        if constexpr (E::is_even_odd)
            return fold_each(a_) + fold_each(b_);
        else
            return fold_each(a_);
    }

private:
    VF a_[S], b_[S];
};

// Not by xsimd's store, which a compiler may leave as a function of its own, shared between ISAs by its name.
ROWNORM_INLINE void put(VF v, float (&to)[S]) { __builtin_memcpy(to, &v.data, sizeof to); }

// A number a row, in f64.
struct Wide {
    VD low, high;

    ROWNORM_INLINE Wide(VD a, VD b) : low(a), high(b) {}
    ROWNORM_INLINE explicit Wide(VF v) : low(widen_low(v)), high(widen_high(v)) {}

    ROWNORM_INLINE friend Wide operator*(Wide a, Wide b) { return {a.low * b.low, a.high * b.high}; }
    ROWNORM_INLINE friend Wide operator-(Wide a, Wide b) { return {a.low - b.low, a.high - b.high}; }
    ROWNORM_INLINE friend Wide operator*(Wide a, double b) { return {a.low * b, a.high * b}; }
    ROWNORM_INLINE friend Wide operator+(Wide a, double b) { return {a.low + b, a.high + b}; }
    ROWNORM_INLINE friend Wide operator/(double a, Wide b) { return {VD(a) / b.low, VD(a) / b.high}; }
    ROWNORM_INLINE friend bool all_above(Wide a, double b) {
        return xsimd::all(a.low > VD(b)) && xsimd::all(a.high > VD(b));
    }
    ROWNORM_INLINE friend bool none_above(Wide a, Wide b) {
        return xsimd::all(a.low <= b.low) && xsimd::all(a.high <= b.high);
    }
    ROWNORM_INLINE Wide root() const { return {xsimd::sqrt(low), xsimd::sqrt(high)}; }
    ROWNORM_INLINE VF as_f32() const { return narrow(low, high); }
};

// settle() of root.hpp for each row.
ROWNORM_INLINE bool settle(Wide v, float (&factor)[S]) {
    const Wide root = v.root(), inverse = 1.0 / v;
    const VF below = (root * (inverse * kBelow)).as_f32(), above = (root * (inverse * kAbove)).as_f32();
    put(below, factor);
    return xsimd::all(below == above) && all_above(v, rownorm::kSettledFrom);
}

// What the rows of a group are scaled by.
struct Scales {
    float mean[S], delta[S], rstd[S];
};

template <class E, bool centred, bool adds>
class ShortRows {
    using value = typename E::value;
    using Row = ApplyRow<E, E, E, centred, centred ? rownorm::kGainBias : rownorm::kGain>;

public:
    ROWNORM_INLINE ShortRows(const rownorm::RowSet &at, int64_t n, double eps)
        : at_(at), from_(adds ? Rows{at.residual.data, at.residual.stride} : at.x), n_(n), eps_(eps),
          elements_(rownorm::count_of(n)) {}

    // A group is written after the next one is summed, whose loads and additions fill the time of its roots.
    ROWNORM_INLINE RowsDone run(int64_t rows) const {
        if (n_ < Row::width || rows < S / 2)
            return {0, 0};
        Scales scales[2];
        int64_t here = 0;
        for (int64_t next = 0;; next += S) {
            const int64_t left = rows - next, then = left < S ? left : S;
            const bool fits = then > 0 && sum(next, then, scales[next / S & 1]);
            if (here > 0)
                write(next - S, here, scales[(next / S - 1) & 1]);
            if (!fits)
                return {then > 0 ? next : rows, then > 0 && adds ? then : 0};
            here = then;
        }
    }

private:
    // False if the usual arithmetic does not hold all rows of a group.
    ROWNORM_INLINE bool sum(int64_t first, int64_t rows, Scales &to) const {
        Sums<E> sums;
        for (int64_t j = 0; j < rows; j++) {
            Lanes<E, lanes_of<E>> lanes;
            const value *const x = row_of<E>(at_.x, first + j);
            if constexpr (adds) {
                value *const residual = row_of<E>(at_.residual, first + j);
                add_residual_of_chunk<E, E, true>(x, residual, residual, n_, lanes);
            } else if constexpr (centred) {
                add_chunk<E>(x, n_, lanes);
            } else {
                add_squares_of_chunk<E>(x, n_, lanes);
            }
            sums.set(j, lanes);
        }
        if constexpr (centred)
            return close_centred(first, rows, sums.close(rows), to);
        else
            return close(sums.close(rows), to);
    }

    ROWNORM_INLINE bool close(VF sums, Scales &to) const {
        if (__builtin_expect(settle(Wide(sums) * elements_.inverse + eps_, to.rstd), 1))
            return true;
        float sum[S];
        put(sums, sum);
        bool all_fit = true;
        for (int j = 0; j < S; j++)
            all_fit &= rownorm::f32_root_of_mean(double(sum[j]), elements_, eps_, to.rstd[j]);
        return all_fit;
    }

    ROWNORM_INLINE bool close_centred(int64_t first, int64_t rows, VF first_sums, Scales &to) const {
        quotients(first_sums, to.mean);
        Sums<E> linear, square;
        for (int64_t j = 0; j < rows; j++) {
            CentredLanes<E> lanes;
            lanes.add(row_of<E>(at_.x, first + j), n_, VF(to.mean[j]));
            linear.set(j, lanes.linear);
            square.set(j, lanes.square);
        }
        const VF sums = linear.close(rows), squares = square.close(rows);
        quotients(sums, to.delta);
        const Wide s(sums), q(squares), correction = s * s * elements_.inverse;
        if (__builtin_expect(
                none_above(correction, q * 0.5) && settle((q - correction) * elements_.inverse + eps_, to.rstd), 1))
            return true;
        float sum[S], of_squares[S];
        put(sums, sum);
        put(squares, of_squares);
        bool all_fit = true;
        for (int j = 0; j < S; j++)
            all_fit &=
                rownorm::f32_root_of_variance(double(sum[j]), double(of_squares[j]), elements_, eps_, to.rstd[j]);
        return all_fit;
    }

    // f32_quotient() of each row.
    ROWNORM_INLINE void quotients(VF sums, float (&to)[S]) const {
        const Wide s(sums);
        const VF below = (s * (elements_.inverse * kBelow)).as_f32(),
                 above = (s * (elements_.inverse * kAbove)).as_f32();
        put(below, to);
        if (__builtin_expect(xsimd::all(below == above), 1))
            return;
        float sum[S];
        put(sums, sum);
        for (int j = 0; j < S; j++)
            to[j] = rownorm::f32_quotient(double(sum[j]), elements_);
    }

    ROWNORM_INLINE void write(int64_t first, int64_t rows, const Scales &scales) const {
        const bool ragged = n_ % Row::width;
        const bool aligning = worth_aligning<Row>(n_, reinterpret_cast<uintptr_t>(at_.y.data) | uint64_t(at_.y.stride));
        Row row(row_of<E>(from_, first), row_of<E>(at_.y, first), row_of<E>(at_.w, first), row_of<E>(at_.b, first));
        for (int64_t j = 0; j < rows; j++) {
            if constexpr (centred) {
                row.mean = VF(scales.mean[j]);
                row.delta = VF(scales.delta[j]);
            }
            row.rstd = VF(scales.rstd[j]);
            if (aligning)
                row.run_misaligned(n_);
            else
                row.around_end(
                    n_, ragged, [&]() __attribute__((always_inline)) { row.run_near(0, n_); });
            row.advance(from_.stride, at_.y.stride, at_.w.stride, at_.b.stride);
        }
    }

    const rownorm::RowSet at_;
    const Rows from_; // what is normalised
    const int64_t n_;
    const double eps_;
    const Count elements_;
};

template <class E, bool centred, bool adds = false>
RowsDone norm(const rownorm::RowSet &at, int64_t rows, int64_t n, double eps) {
    return ShortRows<E, centred, adds>(at, n, eps).run(rows);
}

} // namespace

extern const rownorm::ShortRowsKernels ROWNORM_SYMBOL(short_rows);
const rownorm::ShortRowsKernels ROWNORM_SYMBOL(short_rows) = {
    {norm<F32, false>, norm<F16, false>, norm<Bf16EvenOdd, false>},
    {norm<F32, false, true>, norm<F16, false, true>, norm<Bf16EvenOdd, false, true>},
    {norm<F32, true>, norm<F16, true>, norm<Bf16EvenOdd, true>},
};
