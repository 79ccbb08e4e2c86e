// SPDX-License-Identifier: Apache-2.0
// The one-line calls: small ones the short way, others by a plan and an io on the stack.
#include "arguments.hpp"
#include "execute.hpp"
#include "float_state.hpp"
#include "plain_rows.hpp"
#include "status.hpp"

using namespace rownorm;

namespace {

struct Pointers {
    void *y;
    const void *x, *w, *b;
    void *residual; // added to and written back
};

// One type, no offset, the default ISA: what the calls have in common.
struct Call {
    rownorm_op op;
    Type type;
    int64_t n;
    double eps;
};

#define ROWNORM_AT_ONCE [[gnu::always_inline]] inline // so that the op and the type are constants

inline uint64_t address(const void *p) { return reinterpret_cast<uintptr_t>(p); }
inline bool apart(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
    return a + a_bytes <= b || b + b_bytes <= a;
}
inline bool apart_or_none(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
    return !b || apart(a, a_bytes, b, b_bytes);
}

// What check_io() accepts of dense rows, seen in a few instructions. The residual is written back.
ROWNORM_AT_ONCE bool is_plain(const Pointers &p, uint64_t all, uint64_t row, uint64_t element_bytes) {
    const uint64_t x = address(p.x), y = address(p.y), w = address(p.w), b = address(p.b), r = address(p.residual);
    const uint64_t bits = x | y | w | b | r;
    if (!x || !y || bits & (element_bytes - 1) || bits >> 62)
        return false;
    if (!(x == y || apart(x, all, y, all)) || !apart_or_none(y, all, w, row) || !apart_or_none(y, all, b, row))
        return false;
    return !r || ((r == x || apart(r, all, x, all)) && apart(r, all, y, all) && apart_or_none(r, all, w, row) &&
                  apart_or_none(r, all, b, row));
}

constexpr uint64_t kMostElements = uint64_t(1) << 26; // of a row, for the short ways

constexpr rownorm_type name_of(Type type) {
    return type == kF32 ? ROWNORM_F32 : type == kF16 ? ROWNORM_F16 : ROWNORM_BF16;
}

// Any call, by a plan and an io; finds the words for what is wrong.
[[gnu::noinline]] rownorm_status run_at_length(const Call &call, const Pointers &p, int64_t rows) {
    rownorm_descriptor d = {};
    d.struct_size = sizeof d;
    d.op = call.op;
    d.x_type = name_of(call.type);
    d.n = call.n;
    d.eps = call.eps;
    Plan plan;
    if (const rownorm_status status = make_plan(plan, &d))
        return status;
    if (rows < 0)
        return fail(ROWNORM_INVALID_ARGUMENT, "rows is %lld; it must be at least 0", static_cast<long long>(rows));
    rownorm_io io = rownorm_dense_io(&d, rows);
    io.x.data = p.x;
    io.residual.data = io.residual_out.data = p.residual;
    io.w.data = p.w;
    io.b.data = p.b;
    io.y.data = p.y;
    int64_t checked_rows = 0;
    const rownorm_status status = check_io(&plan, &io, &checked_rows);
    return status || !rows ? status : run_batch(plan, io, rows);
}

// A float as it is, for a caller whose state takes subnormal numbers for 0, or traps on a signalling NaN.
double as_double(float v) {
    const auto bits = __builtin_bit_cast(uint32_t, v);
    if (bits << 1 >= 0xff000000) // infinite or NaN: refused later, by its bits
        return __builtin_bit_cast(double,
                                  uint64_t(bits >> 31) << 63 | uint64_t(0x7ff) << 52 | uint64_t(bits & 0x7fffff) << 29);
    if (bits << 1 >= 0x01000000)
        return double(v);
    const double magnitude = double(bits & 0x7fffffff) * 0x1p-149;
    return bits >> 31 ? -magnitude : magnitude;
}

// So few rows that they stay on this thread and in the caches, and nothing to object to.
bool is_small(Type type, const Pointers &p, int64_t rows, int64_t n, float eps) {
    constexpr uint64_t most_bytes = 32 << 10;
    if (!default_isa() || uint64_t(n) - 1 >= kMostElements || uint64_t(rows) - 1 >= most_bytes ||
        __builtin_bit_cast(uint32_t, eps) >= 0x7f800000)
        return false;
    const auto element = uint64_t(bytes_of(type)), row = uint64_t(n) * element, all = row * uint64_t(rows);
    return (rows == 1 || all <= most_bytes) && is_plain(p, all, row, element);
}

// The rows that a pointer of `p` leads to, from row `row` on.
Pointers from(const Pointers &p, int64_t bytes) {
    const auto step = [bytes](auto *data) {
        using Pointer = decltype(data);
        return data ? reinterpret_cast<Pointer>(address(data) + uint64_t(bytes)) : Pointer();
    };
    return {step(p.y), step(p.x), p.w, p.b, step(p.residual)};
}

// What the short way leaves: of the first `summed` rows the residual is the sum already.
[[gnu::noinline, gnu::cold]] rownorm_status run_rest(const Call &call, const Pointers &p, int64_t rows,
                                                     int64_t summed) {
    if (summed) {
        const Pointers sums{p.y, p.residual, p.w, p.b, nullptr};
        if (const rownorm_status status = run_at_length(call, sums, summed))
            return status;
    }
    return run_at_length(call, from(p, summed * call.n * bytes_of(call.type)), rows - summed);
}

rownorm_status run_small(const Call &call, const Pointers &p, int64_t rows) {
    const DefaultFloatState state;
    const bool centred = call.op == ROWNORM_LAYER_NORM;
    const RowKind row{call.type, call.type, call.type, call.n, centred, p.residual != nullptr};
    const KernelTable &table = default_isa()->kernels_for(row);
    const Formula formula{call.op, ROWNORM_L2_EPS_MAX, ROWNORM_ROUND_ONCE, false, call.n, call.n, call.eps,
                          -0.0,    counted(call.n)};
    const RowKernels kernels = f32_kernels_of(table, row);
    const AddKernel add = table.residual->add_sum_squares[call.type][call.type]; // only RMSNorm adds
    const WholeRowKernels whole = p.w && bool(p.b) == centred ? whole_row_kernels_of(table, row) : WholeRowKernels{};
    const int64_t bytes = call.n * bytes_of(call.type);
    const RowSet at{{p.x, bytes}, {p.residual, bytes}, {p.y, bytes}, {p.w, 0}, {p.b, 0}};
    const RowsDone done = run_plain_rows(formula, kernels, add, whole, at, rows);
    if (done.normalised == rows)
        return ROWNORM_OK;
    return run_rest(call, from(p, done.normalised * bytes), rows - done.normalised, done.summed);
}

// All but a row that is done: of one that is summed the residual is the sum already. With the arguments apart, so that
// nothing is kept in memory for this.
[[gnu::noinline]] rownorm_status run_other(rownorm_op op, Type type, OneRow became, void *y, const void *x,
                                           const void *w, const void *b, void *residual, int64_t rows, int64_t n,
                                           float eps) {
    const Call call{op, type, n, as_double(eps)};
    const Pointers p{y, x, w, b, residual};
    if (became == kSummed)
        return run_rest(call, p, rows, residual ? 1 : 0);
    return is_small(type, p, rows, n, eps) ? run_small(call, p, rows) : run_at_length(call, p, rows);
}

// One row with all that its kernel needs; eps may be 0 or normal. Others stay untouched.
template <rownorm_op op, Type type, bool adds>
ROWNORM_AT_ONCE OneRow run_one_row(const Pointers &p, int64_t n, float eps) {
    constexpr bool centred = op == ROWNORM_LAYER_NORM;
    const auto eps_bits = __builtin_bit_cast(uint32_t, eps);
    const bool eps_is_plain = !eps_bits || eps_bits - 0x00800000 < 0x7f000000;
    constexpr auto element = uint64_t(bytes_of(type));
    const uint64_t row = uint64_t(n) * element;
    const Isa *const isa = default_isa();
    if (uint64_t(n) - 1 >= kMostElements || !eps_is_plain || !p.w || (centred && !p.b) || !isa ||
        !is_plain(p, row, row, element))
        return kUntouched;
    const RowKind alone{.x = type, .y = type, .weight = type, .n = n, .centred = centred, .adds = adds, .alone = true};
    const OneRowKernels &kernels = *isa->kernels_for(alone).one_row;
    const DefaultFloatState state;
    const OneRowKernel normalise = (centred ? kernels.layer_norm
                                    : adds  ? kernels.add_rms_norm
                                            : kernels.rms_norm)[type][type][type];
    return normalise(p.x, p.residual, p.y, p.w, p.b, n, double(eps));
}

template <rownorm_op op, Type type, bool adds = false>
ROWNORM_AT_ONCE rownorm_status run(const Pointers &p, int64_t rows, int64_t n, float eps) {
    const OneRow became = rows == 1 ? run_one_row<op, type, adds>(p, n, eps) : kUntouched;
    if (__builtin_expect(became == kNormalised, 1))
        return ROWNORM_OK;
    return run_other(op, type, became, p.y, p.x, p.w, p.b, p.residual, rows, n, eps);
}

} // namespace

#define ROWNORM_ONE_LINE_CALLS(suffix, type, T)                                                                        \
    rownorm_status rownorm_rms_norm_##suffix(T *y, const T *x, const T *w, int64_t rows, int64_t n, float eps) {       \
        return run<ROWNORM_RMS_NORM, type>({y, x, w, nullptr, nullptr}, rows, n, eps);                                 \
    }                                                                                                                  \
    rownorm_status rownorm_add_rms_norm_##suffix(T *y, T *residual, const T *x, const T *w, int64_t rows, int64_t n,   \
                                                 float eps) {                                                          \
        if (!residual && rows > 0)                                                                                     \
            return fail(ROWNORM_INVALID_ARGUMENT, "residual is NULL; it is required");                                 \
        return run<ROWNORM_RMS_NORM, type, true>({y, x, w, nullptr, residual}, rows, n, eps);                          \
    }                                                                                                                  \
    rownorm_status rownorm_layer_norm_##suffix(T *y, const T *x, const T *w, const T *b, int64_t rows, int64_t n,      \
                                               float eps) {                                                            \
        return run<ROWNORM_LAYER_NORM, type>({y, x, w, b, nullptr}, rows, n, eps);                                     \
    }

ROWNORM_ONE_LINE_CALLS(f32, kF32, float)
ROWNORM_ONE_LINE_CALLS(f16, kF16, uint16_t)
ROWNORM_ONE_LINE_CALLS(bf16, kBf16, uint16_t)
