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

constexpr uint64_t kMostBytes = 32 << 10; // of a batch, which stays on this thread and in the caches

// So few rows, and nothing to object to.
bool is_small(Type type, const Pointers &p, int64_t rows, int64_t n, float eps) {
    if (!default_isa() || uint64_t(n) - 1 >= kMostElements || uint64_t(rows) - 1 >= kMostBytes ||
        __builtin_bit_cast(uint32_t, eps) >= 0x7f800000)
        return false;
    const auto element = uint64_t(bytes_of(type)), row = uint64_t(n) * element, all = row * uint64_t(rows);
    return (rows == 1 || all <= kMostBytes) && is_plain(p, all, row, element);
}

Formula formula_of(rownorm_op op, int64_t n, double eps) {
    return {op, ROWNORM_L2_EPS_MAX, ROWNORM_ROUND_ONCE, false, n, n, eps, -0.0, counted(n)};
}
RowSet row_set(const Pointers &p, int64_t bytes) {
    return {{p.x, bytes}, {p.residual, bytes}, {p.y, bytes}, {p.w, 0}, {p.b, 0}};
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

// Rows that lack a gain or a bias, or that the kernels for both passes leave to others.
rownorm_status run_small(const Call &call, const Pointers &p, int64_t rows) {
    const DefaultFloatState state;
    const RowKind row{call.type, call.type, call.type, call.n, call.op == ROWNORM_LAYER_NORM, p.residual != nullptr};
    const KernelTable &table = default_isa()->kernels_for(row);
    const Formula formula = formula_of(call.op, call.n, call.eps);
    const AddKernel add = table.residual->add_sum_squares[call.type][call.type]; // only RMSNorm adds
    const int64_t bytes = call.n * bytes_of(call.type);
    const RowsDone done =
        run_plain_rows(formula, f32_kernels_of(table, row), add, WholeRowKernels{}, row_set(p, bytes), rows);
    if (done.normalised == rows)
        return ROWNORM_OK;
    return run_rest(call, from(p, done.normalised * bytes), rows - done.normalised, done.summed);
}

// The rows that are not done. Of a row that is summed and has no residual its kernel has found that the short way does
// not hold it. With the arguments apart, so that nothing is kept in memory for this.
[[gnu::noinline]] rownorm_status run_other(rownorm_op op, Type type, RowsDone done, void *y, const void *x,
                                           const void *w, const void *b, void *residual, int64_t rows, int64_t n,
                                           float eps) {
    const Call call{op, type, n, as_double(eps)};
    const Pointers p{y, x, w, b, residual};
    if (done.normalised || done.summed)
        return run_rest(call, from(p, done.normalised * n * bytes_of(type)), rows - done.normalised,
                        residual ? done.summed : 0);
    return is_small(type, p, rows, n, eps) ? run_small(call, p, rows) : run_at_length(call, p, rows);
}

// The ISA for rows with all that the kernels for both passes need, a gain and for LayerNorm a bias; eps may be 0 or
// normal. nullptr for others.
template <rownorm_op op>
ROWNORM_AT_ONCE const Isa *isa_for_whole_rows(const Pointers &p, int64_t n, float eps) {
    const auto eps_bits = __builtin_bit_cast(uint32_t, eps);
    const bool eps_is_plain = !eps_bits || eps_bits - 0x00800000 < 0x7f000000;
    const bool serves = uint64_t(n) - 1 < kMostElements && eps_is_plain && p.w && (op != ROWNORM_LAYER_NORM || p.b);
    return serves ? default_isa() : nullptr;
}

template <rownorm_op op, Type type, bool adds>
ROWNORM_AT_ONCE OneRow run_one_row(const Pointers &p, int64_t n, float eps) {
    constexpr bool centred = op == ROWNORM_LAYER_NORM;
    constexpr auto element = uint64_t(bytes_of(type));
    const uint64_t row = uint64_t(n) * element;
    const Isa *const isa = isa_for_whole_rows<op>(p, n, eps);
    if (!isa || !is_plain(p, row, row, element))
        return kUntouched;
    const RowKind alone{.x = type, .y = type, .weight = type, .n = n, .centred = centred, .adds = adds, .alone = true};
    const OneRowKernels &kernels = *isa->kernels_for(alone).one_row;
    const DefaultFloatState state;
    const OneRowKernel normalise = (centred ? kernels.layer_norm
                                    : adds  ? kernels.add_rms_norm
                                            : kernels.rms_norm)[type][type][type];
    return normalise(p.x, p.residual, p.y, p.w, p.b, n, double(eps));
}

template <rownorm_op op, Type type, bool adds>
ROWNORM_AT_ONCE RowsDone run_few_rows(const Pointers &p, int64_t rows, int64_t n, float eps) {
    constexpr auto element = uint64_t(bytes_of(type));
    const uint64_t row = uint64_t(n) * element, all = row * uint64_t(rows);
    const Isa *const isa = isa_for_whole_rows<op>(p, n, eps);
    if (!isa || uint64_t(rows) - 1 >= kMostBytes || all > kMostBytes || !is_plain(p, all, row, element))
        return {0, 0};
    const RowKind kind{type, type, type, n, op == ROWNORM_LAYER_NORM, adds};
    const DefaultFloatState state;
    return run_whole_rows(formula_of(op, n, double(eps)), whole_row_kernels_of(isa->kernels_for(kind), kind),
                          row_set(p, int64_t(row)), rows, type == kF32 || !may_run_ahead(kind));
}

// A function of its own, so that a single row, which has little to do, saves no registers for it.
template <rownorm_op op, Type type, bool adds>
[[gnu::noinline]] rownorm_status run_rows(void *y, const void *x, const void *w, const void *b, void *residual,
                                          int64_t rows, int64_t n, float eps) {
    const RowsDone done = run_few_rows<op, type, adds>({y, x, w, b, residual}, rows, n, eps);
    if (rows && done.normalised == rows)
        return ROWNORM_OK;
    return run_other(op, type, done, y, x, w, b, residual, rows, n, eps);
}

template <rownorm_op op, Type type, bool adds = false>
ROWNORM_AT_ONCE rownorm_status run(const Pointers &p, int64_t rows, int64_t n, float eps) {
    if (rows != 1)
        return run_rows<op, type, adds>(p.y, p.x, p.w, p.b, p.residual, rows, n, eps);
    const OneRow became = run_one_row<op, type, adds>(p, n, eps);
    if (__builtin_expect(became == kNormalised, 1))
        return ROWNORM_OK;
    return run_other(op, type, {0, became == kSummed}, p.y, p.x, p.w, p.b, p.residual, 1, n, eps);
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
