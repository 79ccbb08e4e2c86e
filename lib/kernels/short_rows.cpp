// SPDX-License-Identifier: Apache-2.0
// Both passes over short rows, such as the heads of queries and keys, as many at a time as a vector has lanes. With a
// gain; LayerNorm with a bias.
#include "apply.hpp"
#include "closing.hpp"
#include "mixes.hpp"

namespace {

using rownorm::RowsDone;

template <class X, class Y, class W, bool centred, bool adds>
class ShortRows {
    using E = summed<X>;
    using value = typename E::value;
    using Row = ApplyRow<X, Y, W, centred, centred ? rownorm::kGainBias : rownorm::kGain>;

public:
    ROWNORM_INLINE ShortRows(const rownorm::RowSet &at, const Formula &formula)
        : at_(at), from_(adds ? Rows{at.residual.data, at.residual.stride} : at.x), n_(formula.n), formula_(formula),
          root_(rownorm::under_root_of_squares(formula)) {}

    // A group is written after the next one is summed, and some of it between the steps in which that is closed: its
    // work fills the time that the roots take.
    ROWNORM_INLINE RowsDone run(int64_t rows) const {
        if (n_ < Row::width)
            return {0, 0};
        if (rows < fewest)
            return run_one_by_one(rows);
        const int64_t piece = between_steps(), most = rows_of_group();
        Scales scales[2];
        int64_t here = 0;
        bool odd = false;
        for (int64_t next = 0;; next += most, odd = !odd) {
            const int64_t left = rows - next, then = left < most ? left : most;
            Group last(*this, next - most, here, scales[!odd]);
            const auto meanwhile = [&]() __attribute__((always_inline)) { last.write(piece); };
            const bool fits = then > 0 && scale(next, then, scales[odd], meanwhile);
            last.write_rest();
            if (!fits)
                return {then > 0 ? next : rows, then > 0 && adds ? then : 0};
            here = then;
        }
    }

private:
    // Little is done beside loads and stores.
    static constexpr bool is_light = !centred && sizeof(value) == 4 && sizeof(typename Y::value) == 4;

    // Fewer rows take less time one by one: closing a group takes as long whatever part of its lanes has rows.
    static constexpr int64_t fewest = is_light ? S * 3 / 8 + 2 : centred ? S / 8 + 2 : S / 4 + 1;

    ROWNORM_INLINE RowsDone run_one_by_one(int64_t rows) const {
        for (int64_t row = 0; row < rows; row++) {
            Scales scales;
            if (!scale_one(row, scales))
                return {row, adds};
            Group(*this, row, 1, scales).write_rest();
        }
        return {rows, 0};
    }

    ROWNORM_INLINE bool scale_one(int64_t row, Scales &to) const {
        Lanes<E, lanes_of<E>> lanes;
        if constexpr (centred) {
            return scale_one_by_variance<E>(row_of<E>(at_.x, row), formula_, to);
        } else {
            sum(row, lanes);
            return scale_one_by_squares(double(lanes.close()), formula_, root_, to);
        }
    }

    // Of a row's squares.
    ROWNORM_INLINE void sum(int64_t row, Lanes<E, lanes_of<E>> &lanes) const {
        const value *const x = row_of<E>(at_.x, row);
        if constexpr (adds) {
            value *const residual = row_of<E>(at_.residual, row);
            add_residual_of_chunk<E, E, true>(x, residual, residual, n_, lanes);
        } else {
            add_squares_of_chunk<E>(x, formula_.k, lanes);
        }
    }

    // As many as a vector has lanes; half of 16 where those exceed 8 KB, as two groups and what is written of them then
    // leave L1. Only where L1 bounds all.
    ROWNORM_INLINE int64_t rows_of_group() const {
        constexpr int64_t quarter_of_smallest_l1 = 8 << 10;
        return is_light && S > 8 && S * n_ * int64_t(sizeof(value)) > quarter_of_smallest_l1 ? S / 2 : S;
    }

    // Rows to be written at a time. Of long ones the roots take so small a part that to go to and fro costs more.
    ROWNORM_INLINE int64_t between_steps() const {
        constexpr uint32_t elements = 512;
        if (aligning_ || n_ % Row::width || n_ > elements / 2)
            return 0;
        const uint32_t rows = elements / uint32_t(n_);
        return rows < uint32_t(S / 2) ? rows : S / 2;
    }

    // False if the usual arithmetic does not hold all rows of a group.
    template <class G>
    ROWNORM_INLINE bool scale(int64_t first, int64_t rows, Scales &to, G meanwhile) const {
        if constexpr (centred)
            return scale_by_variance<E>(at_.x, first, rows, formula_, to, meanwhile);
        else
            return scale_by_squares<E>(
                rows, formula_, root_,
                to, [&](int64_t j, auto &lanes) __attribute__((always_inline)) { sum(first + j, lanes); }, meanwhile);
    }

    // Rows that are closed, and still to be written.
    class Group {
    public:
        ROWNORM_INLINE Group(const ShortRows &all, int64_t first, int64_t rows, const Scales &scales)
            : all_(all), first_(first), rows_(rows), scales_(scales) {}

        // The next ones, `most` at most, of rows that are whole pairs: see between_steps().
        ROWNORM_INLINE void write(int64_t most) {
            const int64_t left = rows_ - done_, rows = left < most ? left : most;
            all_.write(
                first_ + done_, rows, done_,
                scales_, [&](const Row &row) __attribute__((always_inline)) { row.run_near(0, all_.n_); });
            done_ += rows;
        }

        ROWNORM_INLINE void write_rest() {
            all_.write(
                first_ + done_, rows_ - done_, done_, scales_, [&](const Row &row) __attribute__((always_inline)) {
                    const int64_t n = all_.n_;
                    if (all_.aligning_)
                        row.run_misaligned(n);
                    else
                        row.around_end(
                            n, n % Row::width, [&]() __attribute__((always_inline)) { row.run_near(0, n); });
                });
        }

    private:
        const ShortRows &all_;
        const int64_t first_, rows_;
        const Scales &scales_;
        int64_t done_ = 0;
    };

    template <class F>
    ROWNORM_INLINE void write(int64_t first, int64_t rows, int64_t place, const Scales &scales, F run) const {
        Row row(row_of<X>(from_, first), row_of<Y>(at_.y, first), row_of<W>(at_.w, first), row_of<W>(at_.b, first));
        for (int64_t j = place; j < place + rows; j++) {
            if constexpr (centred) {
                row.mean = VF(scales.mean[j]);
                row.delta = VF(scales.delta[j]);
            }
            row.rstd = VF(scales.rstd[j]);
            run(row);
            row.advance(from_.stride, at_.y.stride, at_.w.stride, at_.b.stride);
        }
    }

    const rownorm::RowSet at_;
    const Rows from_; // what is normalised
    const int64_t n_;
    const Formula &formula_;
    const UnderRoot root_;
    const bool aligning_ = worth_aligning<Row>(n_, reinterpret_cast<uintptr_t>(at_.y.data) | uint64_t(at_.y.stride));
};

template <class X, class Y, class W, bool centred, bool adds = false>
RowsDone norm(const rownorm::RowSet &at, int64_t rows, const Formula &formula) {
    return ShortRows<X, Y, W, centred, adds>(at, formula).run(rows);
}

constexpr rownorm::ShortRowsKernels short_rows_kernels() {
    rownorm::ShortRowsKernels kernels{};
    for_mixes([&]<class X, class Y, class W>(Mix<X, Y, W> mix) {
        kernels.rms_norm[mix.x][mix.y][mix.w] = norm<X, Y, W, false>;
        kernels.add_rms_norm[mix.x][mix.y][mix.w] = norm<X, Y, W, false, true>;
        kernels.layer_norm[mix.x][mix.y][mix.w] = norm<X, Y, W, true>;
    });
    return kernels;
}

} // namespace

extern const rownorm::ShortRowsKernels ROWNORM_SYMBOL(short_rows);
constexpr rownorm::ShortRowsKernels ROWNORM_SYMBOL(short_rows) = short_rows_kernels();
