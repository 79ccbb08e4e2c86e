// SPDX-License-Identifier: Apache-2.0
// From the lanes of several short rows to what those are scaled by: as many rows at a time as a vector has lanes, so
// that the last steps of their sums' trees, their roots and divisions are taken of all of them at once.
#pragma once

#include "../scale.hpp"
#include "sums.hpp"

namespace {

using rownorm::Count;
using rownorm::Formula;
using rownorm::kAbove;
using rownorm::kBelow;
using rownorm::Rows;
using rownorm::UnderRoot;

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

// settle() of root.hpp for each row, with what stands under the roots being above `from`. meanwhile() is called while
// they are taken.
template <class F>
ROWNORM_INLINE bool settle(const Wide &under, double from, float (&factor)[S], F meanwhile) {
    const Wide root = under.root(), inverse = 1.0 / under;
    meanwhile();
    const VF below = (root * (inverse * kBelow)).as_f32(), above = (root * (inverse * kAbove)).as_f32();
    put(below, factor);
    return xsimd::all(below == above) && all_above(under, from);
}

// f32_quotient() of root.hpp for each row.
ROWNORM_INLINE void quotients(VF sums, const Count &elements, float (&to)[S]) {
    const Wide s(sums);
    const VF below = (s * (elements.inverse * kBelow)).as_f32(), above = (s * (elements.inverse * kAbove)).as_f32();
    put(below, to);
    if (__builtin_expect(xsimd::all(below == above), 1))
        return;
    float sum[S];
    put(sums, sum);
    for (int j = 0; j < S; j++)
        to[j] = rownorm::f32_quotient(double(sum[j]), elements);
}

// What up to S rows are scaled by.
struct Scales {
    float mean[S], delta[S], rstd[S];
};

// RMSNorm and L2Norm: add(row, lanes) for each row. False if the usual arithmetic does not hold all of them.
//
// Each step waits for the one before it, and all of them together longer than a CPU looks ahead for other work. So
// meanwhile() is called between them.
template <class E, class F, class G>
ROWNORM_INLINE bool scale_by_squares(int64_t rows, const Formula &formula, const UnderRoot &root, Scales &to, F add,
                                     G meanwhile) {
    Sums<E> of_rows;
    for (int64_t j = 0; j < rows; j++) {
        Lanes<E, lanes_of<E>> lanes;
        add(j, lanes);
        of_rows.set(j, lanes);
    }
    const VF sums = of_rows.close(rows);
    meanwhile();
    if (__builtin_expect(settle(Wide(sums) * root.factor + root.added, root.from, to.rstd, meanwhile), 1))
        return true;
    float sum[S];
    put(sums, sum);
    bool all_fit = true;
    for (int j = 0; j < S; j++)
        all_fit &= rownorm::f32_root_of_squares(formula, double(sum[j]), to.rstd[j]);
    return all_fit;
}

// One row alone, from the sum of its squares.
ROWNORM_INLINE bool scale_one_by_squares(double sum, const Formula &formula, const UnderRoot &root, Scales &to) {
    const double v = sum * root.factor + root.added;
    return __builtin_expect(v > root.from && rownorm::settle(rownorm::bounds_of_inverse_root(v), to.rstd[0]), 1) ||
           rownorm::f32_root_of_squares(formula, sum, to.rstd[0]);
}

// LayerNorm of one row alone.
template <class E>
ROWNORM_INLINE bool scale_one_by_variance(const typename E::value *x, const Formula &formula, Scales &to) {
    const Count elements = formula.elements;
    Lanes<E, lanes_of<E>> lanes;
    add_chunk<E>(x, formula.n, lanes);
    to.mean[0] = rownorm::f32_quotient(double(lanes.close()), elements);
    CentredLanes<E> centred;
    centred.add(x, formula.n, VF(to.mean[0]));
    const auto sum = double(centred.linear.close()), squares = double(centred.square.close());
    to.delta[0] = rownorm::f32_quotient(sum, elements);
    return rownorm::f32_root_of_variance(sum, squares, elements, formula.eps, to.rstd[0]);
}

// LayerNorm of x.
template <class E, class G>
ROWNORM_INLINE bool scale_by_variance(Rows x, int64_t first, int64_t rows, const Formula &formula, Scales &to,
                                      G meanwhile) {
    const Count elements = formula.elements;
    const double eps = formula.eps;
    const int64_t n = formula.n;
    Sums<E> of_rows;
    for (int64_t j = 0; j < rows; j++) {
        Lanes<E, lanes_of<E>> lanes;
        add_chunk<E>(row_of<E>(x, first + j), n, lanes);
        of_rows.set(j, lanes);
    }
    quotients(of_rows.close(rows), elements, to.mean);
    meanwhile();
    Sums<E> linear, square;
    for (int64_t j = 0; j < rows; j++) {
        CentredLanes<E> lanes;
        lanes.add(row_of<E>(x, first + j), n, VF(to.mean[j]));
        linear.set(j, lanes.linear);
        square.set(j, lanes.square);
    }
    const VF sums = linear.close(rows), squares = square.close(rows);
    meanwhile();
    quotients(sums, elements, to.delta);
    const Wide s(sums), q(squares), correction = s * s * elements.inverse;
    if (__builtin_expect(none_above(correction, q * 0.5) && settle((q - correction) * elements.inverse + eps,
                                                                   rownorm::kSettledFrom, to.rstd, meanwhile),
                         1))
        return true;
    float sum[S], of_squares[S];
    put(sums, sum);
    put(squares, of_squares);
    bool all_fit = true;
    for (int j = 0; j < S; j++)
        all_fit &= rownorm::f32_root_of_variance(double(sum[j]), double(of_squares[j]), elements, eps, to.rstd[j]);
    return all_fit;
}

} // namespace
