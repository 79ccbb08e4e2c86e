// SPDX-License-Identifier: Apache-2.0
// The one-line calls: small ones at once, others by a plan and an io on the stack.
#include "arguments.hpp"
#include "execute.hpp"
#include "plain_tile.hpp"
#include "status.hpp"

using namespace rownorm;

namespace {

struct Pointers {
    void *y;
    const void *x, *w, *b;
    void *residual; // added to and written back
};

constexpr uint64_t kSmall = uint64_t(1) << 26;

// What check_io() accepts of dense rows without a residual, seen in a few instructions.
bool is_plain(const Pointers &p, int64_t rows, int64_t row_bytes, int64_t element_bytes) {
    if (!p.x || !p.y || p.residual)
        return false;
    const auto x = reinterpret_cast<uintptr_t>(p.x), y = reinterpret_cast<uintptr_t>(p.y);
    const auto w = reinterpret_cast<uintptr_t>(p.w), b = reinterpret_cast<uintptr_t>(p.b);
    const uint64_t row = uint64_t(row_bytes), all = uint64_t(rows) * row, bits = x | y | w | b;
    const bool x_apart = x == y || x + all <= y || y + all <= x;
    const bool w_apart = !w || w + row <= y || y + all <= w, b_apart = !b || b + row <= y || y + all <= b;
    return x_apart && w_apart && b_apart && !((bits & uint64_t(element_bytes - 1)) | bits >> 62);
}

// A float as it is, for a caller whose state takes subnormal numbers for 0.
double as_double(float v) {
    const auto bits = __builtin_bit_cast(uint32_t, v);
    if (bits << 1 >= 0x01000000)
        return double(v);
    const double magnitude = double(bits & 0x7fffffff) * 0x1p-149;
    return bits >> 31 ? -magnitude : magnitude;
}

// A small call with nothing to object to, without a plan and an io. False if it is to be taken the long way.
bool run_small(rownorm_op op, Type type, const Pointers &p, int64_t rows, int64_t n, float eps) {
    const Isa *isa = default_isa();
    if (!isa || uint64_t(n) - 1 >= kSmall || uint64_t(rows) - 1 >= uint64_t(rows_per_tile(n)) ||
        __builtin_bit_cast(uint32_t, eps) >= 0x7f800000)
        return false;
    const int64_t row = n * bytes_of(type);
    if (!is_plain(p, rows, row, bytes_of(type)))
        return false;
    const Formula formula{op, ROWNORM_L2_EPS_MAX, ROWNORM_ROUND_ONCE, false, n, n, as_double(eps), -0.0, Count(n)};
    const RowKernels kernels = kernels_of(*isa, op == ROWNORM_LAYER_NORM, type, type, type);
    return run_plain_tile(formula, kernels, {p.x, row}, {p.y, row}, {p.w, 0}, {p.b, 0}, rows);
}

rownorm_status run(rownorm_op op, Type type, const Pointers &p, int64_t rows, int64_t n, float eps) {
    static constexpr rownorm_type names[] = {ROWNORM_F32, ROWNORM_F16, ROWNORM_BF16};
    if (run_small(op, type, p, rows, n, eps))
        return ROWNORM_OK;
    rownorm_descriptor d = {};
    d.struct_size = sizeof d;
    d.op = op;
    d.x_type = names[type];
    d.n = n;
    d.eps = as_double(eps);
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

} // namespace

#define ROWNORM_ONE_LINE_CALLS(suffix, type, T)                                                                        \
    rownorm_status rownorm_rms_norm_##suffix(T *y, const T *x, const T *w, int64_t rows, int64_t n, float eps) {       \
        return run(ROWNORM_RMS_NORM, type, {y, x, w, nullptr, nullptr}, rows, n, eps);                                 \
    }                                                                                                                  \
    rownorm_status rownorm_add_rms_norm_##suffix(T *y, T *residual, const T *x, const T *w, int64_t rows, int64_t n,   \
                                                 float eps) {                                                          \
        if (!residual && rows > 0)                                                                                     \
            return fail(ROWNORM_INVALID_ARGUMENT, "residual is NULL; it is required");                                 \
        return run(ROWNORM_RMS_NORM, type, {y, x, w, nullptr, residual}, rows, n, eps);                                \
    }                                                                                                                  \
    rownorm_status rownorm_layer_norm_##suffix(T *y, const T *x, const T *w, const T *b, int64_t rows, int64_t n,      \
                                               float eps) {                                                            \
        return run(ROWNORM_LAYER_NORM, type, {y, x, w, b, nullptr}, rows, n, eps);                                     \
    }

ROWNORM_ONE_LINE_CALLS(f32, kF32, float)
ROWNORM_ONE_LINE_CALLS(f16, kF16, uint16_t)
ROWNORM_ONE_LINE_CALLS(bf16, kBf16, uint16_t)
