// SPDX-License-Identifier: Apache-2.0
// Both passes over one row, and the root between them, in one call: for a decoder, whose rows come one by one, and for
// which calls and arguments would cost as much as a short row itself.
#include "apply.hpp"
#include "mixes.hpp"
#include "sums.hpp"

namespace {

using rownorm::Affine;
using rownorm::OneRow;

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
    using E = summed<X>;
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
    using E = summed<X>;
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

constexpr rownorm::OneRowKernels one_row_kernels() {
    rownorm::OneRowKernels kernels{};
    for_mixes([&]<class X, class Y, class W>(Mix<X, Y, W> mix) {
        kernels.rms_norm[mix.x][mix.y][mix.w] = rms_norm<X, Y, W, false>;
        kernels.add_rms_norm[mix.x][mix.y][mix.w] = rms_norm<X, Y, W, true>;
        kernels.layer_norm[mix.x][mix.y][mix.w] = layer_norm<X, Y, W>;
    });
    return kernels;
}

} // namespace

extern const rownorm::OneRowKernels ROWNORM_SYMBOL(one_row);
constexpr rownorm::OneRowKernels ROWNORM_SYMBOL(one_row) = one_row_kernels();
