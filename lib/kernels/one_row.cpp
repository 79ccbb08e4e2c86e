// SPDX-License-Identifier: Apache-2.0
// Both passes over one row, and the root between them, in one call: for a decoder, whose rows come one by one, and for
// which calls and arguments would cost as much as a short row itself.
#include "apply.hpp"
#include "sums.hpp"

namespace {

using rownorm::Affine;
using rownorm::OneRow;

// The even-odd order of bf16 for the sums, whatever the types of y and w are.
template <class X>
struct InSums {
    using type = X;
};
template <>
struct InSums<Bf16> {
    using type = Bf16EvenOdd;
};

template <class X, class Y, class W, bool centred, Affine affine>
struct Pass2 {
    using Row = ApplyRow<X, Y, W, centred, affine>;

    static ROWNORM_INLINE bool is_better_elsewhere(const void *y, int64_t n) {
        return n < Row::width || worth_aligning<Row>(n, reinterpret_cast<uintptr_t>(y));
    }

    static ROWNORM_INLINE void run(const void *x, void *y, const void *w, const void *b, int64_t n,
                                   const rownorm::Scale &scale) {
        Row row(static_cast<const typename X::value *>(x), static_cast<typename Y::value *>(y),
                static_cast<const typename W::value *>(w), static_cast<const typename W::value *>(b));
        row.scale_by(scale);
        row.around_end(
            n, n % Row::width, [&]() __attribute__((always_inline)) { row.run_near(0, n); });
    }
};

template <class X, class Y, class W, bool adds>
OneRow rms_norm(const void *x, void *residual, void *y, const void *w, const void *, int64_t n, double eps) {
    using E = typename InSums<X>::type;
    using value = typename E::value;
    using Write = Pass2<X, Y, W, false, rownorm::kGain>;
    if (Write::is_better_elsewhere(y, n))
        return rownorm::kUntouched;
    double sum = 0;
    if constexpr (adds)
        add_residual<E, E, true>(static_cast<const value *>(x), static_cast<value *>(residual),
                                 static_cast<value *>(residual), n, sum);
    else
        add_squares<E>(static_cast<const value *>(x), n, sum);
    float rstd;
    if (__builtin_expect(!rownorm::f32_root_of_mean(sum, rownorm::count_of(n), eps, rstd), 0))
        return rownorm::kSummed;
    Write::run(adds ? residual : x, y, w, nullptr, n, {0, 0, double(rstd)});
    return rownorm::kNormalised;
}

template <class X, class Y, class W>
OneRow layer_norm(const void *x, void *, void *y, const void *w, const void *b, int64_t n, double eps) {
    using E = typename InSums<X>::type;
    using value = typename E::value;
    using Write = Pass2<X, Y, W, true, rownorm::kGainBias>;
    if (Write::is_better_elsewhere(y, n))
        return rownorm::kUntouched;
    const rownorm::Count elements = rownorm::count_of(n);
    double first_sum = 0, sum = 0, squares = 0;
    add_elements<E>(static_cast<const value *>(x), n, first_sum);
    const auto mean = double(rownorm::f32_quotient(first_sum, elements));
    add_centred<E>(static_cast<const value *>(x), n, mean, sum, squares);
    float rstd;
    if (__builtin_expect(!rownorm::f32_root_of_variance(sum, squares, elements, eps, rstd), 0))
        return rownorm::kSummed; // also if the first sum is not finite, as nothing that follows it is then
    Write::run(x, y, w, b, n, {mean, double(rownorm::f32_quotient(sum, elements)), double(rstd)});
    return rownorm::kNormalised;
}

template <class X, class Y, class W>
constexpr void put(rownorm::OneRowKernels &to, rownorm::Type x, rownorm::Type y, rownorm::Type w) {
    to.rms_norm[x][y][w] = rms_norm<X, Y, W, false>;
    to.add_rms_norm[x][y][w] = rms_norm<X, Y, W, true>;
    to.layer_norm[x][y][w] = layer_norm<X, Y, W>;
}

// One type for all; 16-bit rows with a gain in f32, as it is often kept; f32 rows that become bf16 for what follows.
constexpr rownorm::OneRowKernels one_row_kernels() {
    using namespace rownorm;
    OneRowKernels kernels{};
    put<F32, F32, F32>(kernels, kF32, kF32, kF32);
    put<F16, F16, F16>(kernels, kF16, kF16, kF16);
    put<Bf16EvenOdd, Bf16EvenOdd, Bf16EvenOdd>(kernels, kBf16, kBf16, kBf16);
    put<F16, F16, F32>(kernels, kF16, kF16, kF32);
    put<Bf16, Bf16, F32>(kernels, kBf16, kBf16, kF32);
    put<F32, Bf16, F32>(kernels, kF32, kBf16, kF32);
    return kernels;
}

} // namespace

extern const rownorm::OneRowKernels ROWNORM_SYMBOL(one_row);
constexpr rownorm::OneRowKernels ROWNORM_SYMBOL(one_row) = one_row_kernels();
