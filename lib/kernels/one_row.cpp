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

// Fetches what the next pass reads besides the row, a gain or bias, while this one goes on: a decoder has used so many
// other weights since that it comes from memory. The first pass over 16-bit rows leaves the load units idle; of f32
// they bound it, and LayerNorm of an f32 gain and bias gains nothing. Rows of one chunk fetch themselves, which are
// near: theirs is read early enough without.
template <class E, class W, bool centred>
class FetchBeside {
public:
    ROWNORM_INLINE FetchBeside(const void *gain_or_bias, const void *row, int64_t n)
        : next_(static_cast<const typename W::value *>(n > kChunk ? gain_or_bias : row)) {}

    ROWNORM_INLINE void operator()(int64_t i) const {
        constexpr int line = 64 / int(sizeof(typename W::value));
        if constexpr (sizeof(typename E::value) == 2 && (!centred || sizeof(typename W::value) == 2))
            for (int k = 0; k < lanes_of<E>; k += line)
                __builtin_prefetch(next_ + i + k, 0, 2); // to L2, as L1 may be too small for all of it
    }
    ROWNORM_INLINE FetchBeside from(int64_t i) const { return FetchBeside(next_ + i); }

private:
    ROWNORM_INLINE explicit FetchBeside(const typename W::value *next) : next_(next) {}

    const typename W::value *next_;
};

template <class X, class Y, class W, bool adds>
OneRow rms_norm(const void *x, void *residual, void *y, const void *w, const void *, int64_t n, double eps) {
    using E = summed<X>;
    using value = typename E::value;
    using Write = Pass2<X, Y, W, false, rownorm::kGain>;
    if (Write::is_better_elsewhere(y, n))
        return rownorm::kUntouched;
    const FetchBeside<E, W, false> fetch(w, x, n);
    double sum = 0;
    if constexpr (adds)
        add_residual<E, E, true>(static_cast<const value *>(x), static_cast<value *>(residual),
                                 static_cast<value *>(residual), n, sum, fetch);
    else
        add_squares<E>(static_cast<const value *>(x), n, sum, fetch);
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
    add_elements<E>(static_cast<const value *>(x), n, first_sum, FetchBeside<E, W, true>(w, x, n));
    const auto mean = double(rownorm::f32_quotient(first_sum, elements));
    add_centred<E>(static_cast<const value *>(x), n, mean, sum, squares, FetchBeside<E, W, true>(b, x, n));
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
