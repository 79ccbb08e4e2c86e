// SPDX-License-Identifier: Apache-2.0
// The one-line calls: a plan and an io on the stack.
#include "arguments.hpp"
#include "execute.hpp"
#include "rows.hpp"
#include "status.hpp"

using namespace rownorm;

namespace {

struct Pointers {
    void *y;
    const void *x, *w, *b;
    void *residual; // added to and written back
};

// What check_io() accepts of dense rows, seen in a few instructions; what this does not accept, it decides.
bool is_plain(const Pointers &p, int64_t rows, int64_t row_bytes, int64_t element_bytes) {
    constexpr uint64_t small = uint64_t(1) << 26;
    if (!p.x || !p.y || p.residual || uint64_t(rows - 1) >= small || uint64_t(row_bytes) >= small)
        return false;
    const auto x = reinterpret_cast<uintptr_t>(p.x), y = reinterpret_cast<uintptr_t>(p.y);
    const auto w = reinterpret_cast<uintptr_t>(p.w), b = reinterpret_cast<uintptr_t>(p.b);
    const uint64_t row = uint64_t(row_bytes), all = uint64_t(rows) * row, bits = x | y | w | b;
    const bool x_apart = x == y || x + all <= y || y + all <= x;
    const bool w_apart = !w || w + row <= y || y + all <= w, b_apart = !b || b + row <= y || y + all <= b;
    return x_apart && w_apart && b_apart && !((bits & uint64_t(element_bytes - 1)) | bits >> 62);
}

template <class Tensor, class Data>
void set(Tensor &tensor, Data *data, int64_t stride) {
    tensor.data = data;
    tensor.stride_bytes[0] = tensor.stride_bytes[1] = 0;
    tensor.stride_bytes[2] = stride;
}

rownorm_status run(rownorm_op op, Type type, const Pointers &p, int64_t rows, int64_t n, float eps) {
    Plan plan;
    if (const rownorm_status status = make_plan(plan, op, type, n, eps))
        return status;
    if (rows < 0)
        return fail(ROWNORM_INVALID_ARGUMENT, "rows is %lld; it must be at least 0", static_cast<long long>(rows));
    const int64_t row = n * bytes_of(type);
    const bool plain = is_plain(p, rows, row, bytes_of(type));
    if (plain && rows <= rows_per_tile(plan)) {
        ApplyArguments to = arguments_of(plan, {p.x, row}, {p.y, row}, {p.w, 0}, {p.b, 0});
        if (run_plain_tile(plan, to, rows))
            return ROWNORM_OK;
    }
    rownorm_io io; // field by field: clearing it first would cost more than all of these
    io.struct_size = sizeof io;
    io.flags = 0;
    io.extent[0] = io.extent[1] = 1;
    io.extent[2] = rows;
    set(io.x, p.x, row);
    set(io.residual, p.residual, row);
    set(io.w, p.w, 0);
    set(io.b, p.b, 0);
    set(io.residual_out, p.residual, row);
    set(io.y, p.y, row);
    io.mean = io.rstd = nullptr;
    if (plain)
        return run_batch(plan, io, rows);
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
