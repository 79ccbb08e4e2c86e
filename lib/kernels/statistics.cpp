// SPDX-License-Identifier: Apache-2.0
// The sums over a row: of x, of x^2, and for LayerNorm those of d = x - mean and d^2 (corrected two-pass:
// Chan, Golub and LeVeque, Algorithms for computing the sample variance, The American Statistician 37, 1983).
#include "lanes.hpp"

namespace {

using rownorm::Rows;

// c + v. Where a multiply-add is one instruction, v * 1 + c, which is the same number, serves for the 16-bit types:
// their conversions take the units of the adders (AMD's Zen), and those of the multipliers would be idle.
template <class E>
ROWNORM_INLINE typename E::vec plus(typename E::vec c, typename E::vec v) {
    if constexpr (kFusedIsOneInstruction && sizeof(typename E::value) == 2)
        return fused(v, typename E::vec(typename E::scalar(1)), c);
    else
        return c + v;
}

template <class E>
void sum(Rows x, int64_t rows, int64_t n, double *sums) {
    for (int64_t r = 0; r < rows; r++) {
        const auto *row = row_of<E>(x, r);
        for_chunks(
            n, [&](int64_t first, int64_t elements) __attribute__((always_inline)) {
                Lanes<E, lanes_of<E>> lanes;
                for_pairs<E>(
                    elements, [&](auto k, int64_t i, int count) __attribute__((always_inline)) {
                        const auto v = load_up_to<E>(row + first + i, count);
                        lanes.a(k) = plus<E>(lanes.a(k), v.a);
                        lanes.b(k) = plus<E>(lanes.b(k), v.b);
                    });
                sums[r] += double(lanes.close());
            });
    }
}

template <class E>
void sum_squares(Rows x, int64_t rows, int64_t n, double *sums) {
    for (int64_t r = 0; r < rows; r++) {
        const auto *row = row_of<E>(x, r);
        for_chunks(
            n, [&](int64_t first, int64_t elements) __attribute__((always_inline)) {
                Lanes<E, lanes_of<E>> lanes;
                for_pairs<E>(
                    elements, [&](auto k, int64_t i, int count) __attribute__((always_inline)) {
                        const auto v = load_up_to<E>(row + first + i, count);
                        lanes.a(k) = E::add_square(v.a, lanes.a(k));
                        lanes.b(k) = E::add_square(v.b, lanes.b(k));
                        keep_in_register(lanes.a(k));
                        keep_in_register(lanes.b(k));
                    });
                sums[r] += double(lanes.close());
            });
    }
}

template <class E>
void centred(Rows x, int64_t rows, int64_t n, const double *mean, double *sums, double *squares) {
    for (int64_t r = 0; r < rows; r++) {
        const auto *row = row_of<E>(x, r);
        const auto m = static_cast<typename E::vec>(static_cast<typename E::scalar>(mean[r]));
        for_chunks(
            n, [&](int64_t first, int64_t elements) __attribute__((always_inline)) {
                Lanes<E, 32> linear; // 64 more lanes would not fit into AVX2's registers
                Lanes<E, lanes_of<E>> square;
                for_pairs<E>(
                    elements, [&](auto k, int64_t i, int count) __attribute__((always_inline)) {
                        auto d = load_up_to<E>(row + first + i, count);
                        const auto add = [](auto d, auto &linear, auto &square) __attribute__((always_inline)) {
                            linear = plus<E>(linear, d);
                            square = multiply_add(d, d, square);
                            keep_in_register(linear);
                            keep_in_register(square);
                        };
                        if (count < E::width) {
                            d = E::keep_first({d.a - m, d.b - m}, count);
                            add(d.a, linear.a(k), square.a(k));
                            add(d.b, linear.b(k), square.b(k));
                        } else { // one after the other, as 12 sums leave AVX2 four registers
                            add(d.a - m, linear.a(k), square.a(k));
                            add(d.b - m, linear.b(k), square.b(k));
                        }
                    });
                sums[r] += double(linear.close());
                squares[r] += double(square.close());
            });
    }
}

} // namespace

extern const rownorm::StatisticsKernels ROWNORM_SYMBOL(statistics);
const rownorm::StatisticsKernels ROWNORM_SYMBOL(statistics) = {
    {sum<F32>, sum<F16>, sum<Bf16EvenOdd>, sum<F64>},
    {sum_squares<F32>, sum_squares<F16>, sum_squares<Bf16EvenOdd>, sum_squares<F64>},
    {centred<F32>, centred<F16>, centred<Bf16EvenOdd>, centred<F64>},
};
