// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include "overlap.hpp"
#include "sized.hpp"

namespace rownorm {
namespace {

// Spans stay below 2^59, so that sums of a few of them do not overflow (overlap.cpp adds up to seven).
constexpr int64_t kMaxSpan = int64_t(1) << 59;

struct Tensor {
    const char *name;
    const void *data;
    const int64_t *stride; // three
    int64_t element_bytes;
    int64_t row_bytes;
};

long long ll(int64_t v) { return static_cast<long long>(v); }

rownorm_status check_extents(const rownorm_io &io, int64_t *rows) {
    int64_t product = 1;
    bool none = false;
    for (int d = 0; d < 3; d++) {
        if (io.extent[d] < 0)
            return fail(ROWNORM_INVALID_ARGUMENT, "io->extent[%d] is %lld; it must be at least 0", d, ll(io.extent[d]));
        none |= io.extent[d] == 0;
    }
    for (int d = 0; d < 3 && !none; d++)
        if (__builtin_mul_overflow(product, io.extent[d], &product) || product > kMaxSpan)
            return fail(ROWNORM_INVALID_ARGUMENT, "io->extent is %lld x %lld x %lld; so many rows overflow",
                        ll(io.extent[0]), ll(io.extent[1]), ll(io.extent[2]));
    *rows = none ? 0 : product;
    return ROWNORM_OK;
}

rownorm_status check_presence(const Plan &plan, const rownorm_io &io) {
    if (!io.x.data)
        return fail(ROWNORM_INVALID_ARGUMENT, "io->x.data is NULL; the input is required");
    if (!io.y.data)
        return fail(ROWNORM_INVALID_ARGUMENT, "io->y.data is NULL; the output is required");
    if (io.residual_out.data && !io.residual.data)
        return fail(ROWNORM_INVALID_ARGUMENT,
                    "io->residual_out.data is set and io->residual.data is NULL; there is no sum to write");
    if (io.mean && plan.op != ROWNORM_LAYER_NORM)
        return fail(ROWNORM_INVALID_ARGUMENT, "io->mean is set and op is %u; only LayerNorm has a mean", plan.op);
    return ROWNORM_OK;
}

// Alignment, strides and reach of one tensor.
rownorm_status check_tensor(const Tensor &t, const int64_t (&extent)[3]) {
    const auto address = reinterpret_cast<uintptr_t>(t.data);
    const auto mask = uint64_t(t.element_bytes - 1);
    if (address & mask)
        return fail(ROWNORM_INVALID_ARGUMENT, "io->%s.data is %p; it must be a multiple of the element's %lld bytes",
                    t.name, t.data, ll(t.element_bytes));
    int64_t span = t.row_bytes;
    for (int d = 0; d < 3; d++) {
        if (extent[d] == 1)
            continue;
        if (t.stride[d] < 0 || uint64_t(t.stride[d]) & mask)
            return fail(
                ROWNORM_INVALID_ARGUMENT,
                "io->%s.stride_bytes[%d] is %lld; it must be at least 0 and a multiple of the element's %lld bytes",
                t.name, d, ll(t.stride[d]), ll(t.element_bytes));
        int64_t reach;
        if (__builtin_mul_overflow(t.stride[d], extent[d] - 1, &reach) || __builtin_add_overflow(span, reach, &span) ||
            span > kMaxSpan)
            return fail(ROWNORM_INVALID_ARGUMENT, "io->%s.stride_bytes[%d] is %lld; with %lld rows that overflows",
                        t.name, d, ll(t.stride[d]), ll(extent[d]));
    }
    if (address + uint64_t(span) < address)
        return fail(ROWNORM_INVALID_ARGUMENT, "io->%s.data is %p; %lld bytes from there overflow", t.name, t.data,
                    ll(span));
    return ROWNORM_OK;
}

Block block_of(const Tensor &t, const int64_t (&extent)[3]) {
    Block block{reinterpret_cast<uintptr_t>(t.data), t.row_bytes, {}, {}};
    for (int d = 0; d < 3; d++) {
        block.stride[d] = extent[d] == 1 ? 0 : t.stride[d];
        block.extent[d] = extent[d];
    }
    return block;
}

bool is_exact_alias(const Tensor &a, const Tensor &b, const int64_t (&extent)[3]) {
    if (a.data != b.data || a.element_bytes != b.element_bytes)
        return false;
    for (int d = 0; d < 3; d++)
        if (extent[d] != 1 && a.stride[d] != b.stride[d])
            return false;
    return true;
}

// The tensors of an io that are there: outputs first.
class Tensors {
public:
    Tensors(const Plan &plan, const rownorm_io &io, int64_t rows) {
        static constexpr int64_t dense[3] = {0, 0, 0};
        const int64_t statistic = plan.x == kF64 ? 8 : 4;
        add("y", io.y.data, io.y.stride_bytes, plan.y, plan.n);
        add("residual_out", io.residual_out.data, io.residual_out.stride_bytes, plan.residual, plan.n);
        strided_outputs_ = count_;
        if (io.mean)
            tensor_[count_++] = {"mean", io.mean, dense, statistic, rows * statistic};
        if (io.rstd)
            tensor_[count_++] = {"rstd", io.rstd, dense, statistic, rows * statistic};
        outputs_ = count_;
        add("x", io.x.data, io.x.stride_bytes, plan.x, plan.n);
        add("residual", io.residual.data, io.residual.stride_bytes, plan.residual, plan.n);
        may_alias_ = count_;
        add("w", io.w.data, io.w.stride_bytes, plan.weight, plan.n);
        add("b", io.b.data, io.b.stride_bytes, plan.weight, plan.n);
    }

    rownorm_status check(const int64_t (&extent)[3]) const {
        for (int i = 0; i < count_; i++)
            if (const rownorm_status status = check_tensor(tensor_[i], extent))
                return status;
        for (int i = 0; i < strided_outputs_; i++)
            if (self_overlap(block_of(tensor_[i], extent)) != Overlap::kNone)
                return fail(ROWNORM_INVALID_ARGUMENT,
                            "io->%s.stride_bytes is {%lld, %lld, %lld}; rows of an output must not overlap",
                            tensor_[i].name, ll(tensor_[i].stride[0]), ll(tensor_[i].stride[1]),
                            ll(tensor_[i].stride[2]));
        for (int i = 0; i < outputs_; i++)
            for (int j = i + 1; j < count_; j++)
                if (const rownorm_status status = check_pair(i, j, extent))
                    return status;
        return ROWNORM_OK;
    }

private:
    void add(const char *name, const void *data, const int64_t *stride, Type type, int64_t n) {
        if (data)
            tensor_[count_++] = {name, data, stride, bytes_of(type), n * bytes_of(type)};
    }

    rownorm_status check_pair(int output, int other, const int64_t (&extent)[3]) const {
        const Tensor &a = tensor_[output], &b = tensor_[other];
        const bool alias_allowed = output < strided_outputs_ && other >= outputs_ && other < may_alias_;
        if (alias_allowed && is_exact_alias(a, b, extent))
            return ROWNORM_OK;
        const Overlap found = overlap(block_of(a, extent), block_of(b, extent));
        if (found == Overlap::kNone)
            return ROWNORM_OK;
        return fail(ROWNORM_INVALID_ARGUMENT, "io->%s at %p %s io->%s at %p; %s", a.name, a.data,
                    found == Overlap::kSome ? "overlaps" : "cannot be shown not to overlap", b.name, b.data,
                    alias_allowed ? "they must be disjoint, or the same address, strides and element size"
                                  : "these two must be disjoint");
    }

    Tensor tensor_[8];
    int count_ = 0, strided_outputs_ = 0, outputs_ = 0, may_alias_ = 0;
};

// Everything, with the words for what is wrong.
[[gnu::noinline]] rownorm_status check_closely(const Plan &plan, const rownorm_io &io, int64_t *rows) {
    if (const rownorm_status status = check_extents(io, rows))
        return status;
    if (*rows == 0)
        return ROWNORM_OK;
    if (const rownorm_status status = check_presence(plan, io))
        return status;
    return Tensors(plan, io, *rows).check(io.extent);
}

// The layout of nearly every call, accepted at a glance because tiny calls must be cheap: one dimension of rows,
// no residual or one that is written back in place, no statistics, moderate sizes, and y that is x, or ends before the
// inputs begin, or after they end, and such a residual. What it does not accept may be just as valid: the full check
// decides, and finds the words.
class Glance {
public:
    Glance(const Plan &plan, const rownorm_io &io) : plan_(plan), io_(io), steps_(uint64_t(io.extent[2]) - 1) {}

    bool accepts() {
        if ((io_.extent[0] ^ 1) | (io_.extent[1] ^ 1) || steps_ >= kSmall || uint64_t(plan_.n) >= kSmall)
            return false;
        if (!io_.x.data || !io_.y.data || io_.mean || io_.rstd || io_.residual.data != io_.residual_out.data)
            return false;
        const Span y = span(io_.y.data, io_.y.stride_bytes[2], plan_.y_bytes);
        const Span x = span(io_.x.data, io_.x.stride_bytes[2], plan_.x_bytes);
        const Span w = span(io_.w.data, io_.w.stride_bytes[2], plan_.weight_bytes);
        const Span b = span(io_.b.data, io_.b.stride_bytes[2], plan_.weight_bytes);
        bool apart = disjoint(y, x) || (y.begin == x.begin && y.end == x.end && plan_.y == plan_.x);
        apart = apart && disjoint(y, w) && disjoint(y, b);
        bool overlaps_itself = steps_ && io_.y.stride_bytes[2] < plan_.y_bytes;
        if (io_.residual.data) {
            const int64_t stride = io_.residual.stride_bytes[2], row = plan_.n * bytes_of(plan_.residual);
            const Span r = span(io_.residual.data, stride, row);
            apart = apart && disjoint(r, y) && disjoint(r, x) && disjoint(r, w) && disjoint(r, b);
            apart &= stride == io_.residual_out.stride_bytes[2];
            overlaps_itself |= steps_ && stride < row;
        }
        // Of the widest type's alignment; no stride negative, or too large to multiply without a thought.
        const bool even = !((addresses_ | strides_) & plan_.misaligned) && !(strides_ >> 32 | addresses_ >> 62);
        return apart && even && !overlaps_itself;
    }

private:
    static constexpr uint64_t kSmall = uint64_t(1) << 26;
    struct Span {
        uint64_t begin, end;
    };

    Span span(const void *data, int64_t stride_bytes, int64_t row_bytes) {
        const auto begin = reinterpret_cast<uintptr_t>(data);
        if (!begin)
            return {0, 0};
        const auto stride = uint64_t(stride_bytes);
        addresses_ |= begin;
        strides_ |= stride;
        return {begin, begin + stride * steps_ + uint64_t(row_bytes)};
    }
    static bool disjoint(const Span &a, const Span &b) { return (a.end <= b.begin) | (b.end <= a.begin); }

    const Plan &plan_;
    const rownorm_io &io_;
    const uint64_t steps_;                 // rows - 1, so that no rows are too many
    uint64_t addresses_ = 0, strides_ = 0; // the bits of all of them
};

} // namespace

rownorm_status check_io(const Plan *plan, const rownorm_io *io, int64_t *rows) noexcept {
    if (!plan)
        return fail(ROWNORM_INVALID_ARGUMENT, "plan is NULL");
    if (!io)
        return fail(ROWNORM_INVALID_ARGUMENT, "io is NULL");
    if (const rownorm_status status = check_size(io, "io"))
        return status;
    if (io->flags)
        return fail(ROWNORM_INVALID_ARGUMENT, "io->flags is %#x; no flag is defined, it must be 0", io->flags);
    if (Glance(*plan, *io).accepts()) {
        *rows = io->extent[2];
        return ROWNORM_OK;
    }
    return check_closely(*plan, *io, rows);
}

} // namespace rownorm
