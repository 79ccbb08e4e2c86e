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

// Fetches the gain or bias of a block of lanes, which the next pass reads.
template <class E, class W>
struct FetchBeside {
    const typename W::value *next;

    ROWNORM_INLINE void operator()(int64_t i) const {
        constexpr int line = 64 / int(sizeof(typename W::value));
        for (int k = 0; k < lanes_of<E>; k += line)
            __builtin_prefetch(next + i + k, 0, 2); // to L2, as L1 may be too small for all of it
    }
    ROWNORM_INLINE FetchBeside from(int64_t i) const { return {next + i}; }
};

// pass(beside), a pass over a row of n elements of E before the one that reads `next`, a gain or bias of type W: a
// decoder has used so many other weights since that these come from memory. Passes over 16-bit rows leave the load
// units idle; of f32 they bound it, and LayerNorm of an f32 gain and bias does not gain. Of at most a chunk the gain is
// read so soon that a fetch does not pay, but for adds.
template <class E, class W, bool centred, class F>
ROWNORM_INLINE void fetching(const void *next, int64_t n, F pass) {
    constexpr bool pays = sizeof(typename E::value) == 2 && (!centred || sizeof(typename W::value) == 2);
    if constexpr (pays)
        if (n > kChunk)
            return pass(FetchBeside<E, W>{static_cast<const typename W::value *>(next)});
    pass(Alone{});
}

template <class X, class Y, class W, bool adds>
OneRow rms_norm(const void *x, void *residual, void *y, const void *w, const void *, int64_t n, double eps) {
    using E = summed<X>;
    using value = typename E::value;
    using Write = Pass2<X, Y, W, false, rownorm::kGain>;
    if (Write::is_better_elsewhere(y, n))
        return rownorm::kUntouched;
    double sum = 0;
    fetching<E, W, false>(
        w, n, [&](auto beside) __attribute__((always_inline)) {
            if constexpr (adds)
                add_residual<E, E, true>(static_cast<const value *>(x), static_cast<value *>(residual),
                                         static_cast<value *>(residual), n, sum, beside);
            else
                add_squares<E>(static_cast<const value *>(x), n, sum, beside);
        });
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
    const auto *const row = static_cast<const value *>(x);
    fetching<E, W, true>(
        w, n, [&](auto beside) __attribute__((always_inline)) { add_elements<E>(row, n, first_sum, beside); });
    const auto mean = double(rownorm::f32_quotient(first_sum, elements));
    fetching<E, W, true>(
        b, n, [&](auto beside) __attribute__((always_inline)) { add_centred<E>(row, n, mean, sum, squares, beside); });
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
