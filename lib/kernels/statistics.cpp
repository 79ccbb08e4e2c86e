// SPDX-License-Identifier: Apache-2.0
// The statistics of rows: see sums.hpp.
#include "sums.hpp"

namespace {

using rownorm::Rows;

template <class E>
void sum(Rows x, int64_t rows, int64_t n, double *sums) {
    for (int64_t r = 0; r < rows; r++)
        add_elements<E>(row_of<E>(x, r), n, sums[r]);
}

template <class E>
void sum_squares(Rows x, int64_t rows, int64_t n, double *sums) {
    for (int64_t r = 0; r < rows; r++)
        add_squares<E>(row_of<E>(x, r), n, sums[r]);
}

template <class E>
void centred(Rows x, int64_t rows, int64_t n, const double *mean, double *sums, double *squares) {
    for (int64_t r = 0; r < rows; r++)
        add_centred<E>(row_of<E>(x, r), n, mean[r], sums[r], squares[r]);
}

} // namespace

extern const rownorm::StatisticsKernels ROWNORM_SYMBOL(statistics);
const rownorm::StatisticsKernels ROWNORM_SYMBOL(statistics) = {
    {sum<F32>, sum<F16>, sum<Bf16EvenOdd>, sum<F64>},
    {sum_squares<F32>, sum_squares<F16>, sum_squares<Bf16EvenOdd>, sum_squares<F64>},
    {centred<F32>, centred<F16>, centred<Bf16EvenOdd>, centred<F64>},
};
