// SPDX-License-Identifier: Apache-2.0
// Where the rows at hand are, and the way to the next ones.
#pragma once

#include "plan.hpp"

namespace rownorm {

// The stride of a tensor that is not there may be anything, and is 0 here, so that no row of it is somewhere.
template <class Tensor>
int64_t stride_of(const Tensor &tensor, int dimension) {
    return tensor.data ? tensor.stride_bytes[dimension] : 0;
}

// In integers: the step past the last row may lead anywhere, as the stride of a dimension of one row means nothing.
inline Rows at(Rows rows, int64_t offset_bytes) {
    const auto address = reinterpret_cast<uintptr_t>(rows.data);
    return {address ? reinterpret_cast<const void *>(address + uint64_t(offset_bytes)) : nullptr, rows.stride};
}
inline MutableRows at(MutableRows rows, int64_t offset_bytes) {
    const auto address = reinterpret_cast<uintptr_t>(rows.data);
    return {address ? reinterpret_cast<void *>(address + uint64_t(offset_bytes)) : nullptr, rows.stride};
}
inline Rows as_input(MutableRows rows) { return {rows.data, rows.stride}; }

// Pointers to one row, and the strides of the dimension that the rows after it lie along.
struct Cursor {
    Rows x, residual;
    MutableRows residual_out;
    char *mean, *rstd; // one value a row, in row order
    ApplyArguments to; // y, w and b, and whatever stays the same from tile to tile
    ApplyKernel apply; // for this w and b, being there or not
    const RowKernels *kernels;

    bool adds() const { return residual.data; }

    void advance(const Plan &plan, int64_t rows) {
        x = at(x, rows * x.stride);
        residual = at(residual, rows * residual.stride);
        residual_out = at(residual_out, rows * residual_out.stride);
        const int64_t statistics = rows * (plan.is_f64 ? 8 : 4);
        mean = mean ? mean + statistics : nullptr;
        rstd = rstd ? rstd + statistics : nullptr;
        to.y = at(to.y, rows * to.y.stride);
        to.w = at(to.w, rows * to.w.stride);
        to.b = at(to.b, rows * to.b.stride);
    }
};

// The rows of an io in order, as segments along its innermost dimension that has more than one row.
class Segments {
public:
    Segments(const Plan &plan, const rownorm_io &io, const RowKernels &kernels)
        : plan_(plan), io_(io), kernels_(kernels) {
        while (inner_ > 0 && io.extent[inner_] == 1)
            inner_--;
    }

    // Rows left in the segment that row `row` is in.
    int64_t rows_from(int64_t row) const {
        const int64_t inner = io_.extent[inner_];
        return row == 0 ? inner : inner - row % inner;
    }

    void set(Cursor &c, int64_t row) const {
        c.kernels = &kernels_;
        c.apply = c.kernels->apply_of(plan_, io_.w.data, io_.b.data);
        c.x = {io_.x.data, stride_of(io_.x, inner_)};
        c.residual = {io_.residual.data, stride_of(io_.residual, inner_)};
        c.residual_out = {io_.residual_out.data, stride_of(io_.residual_out, inner_)};
        c.mean = static_cast<char *>(io_.mean);
        c.rstd = static_cast<char *>(io_.rstd);
        c.to.y = {io_.y.data, stride_of(io_.y, inner_)};
        c.to.w = {io_.w.data, stride_of(io_.w, inner_)};
        c.to.b = {io_.b.data, stride_of(io_.b, inner_)};
        c.to.n = plan_.n;
        c.to.weight_offset = plan_.weight_offset;
        c.to.round = plan_.round;
        c.to.next_x = c.to.next_residual = nullptr;
        c.to.to_l1 = c.to.stream = false;
        if (row > 0)
            go_to(c, row);
    }

private:
    void go_to(Cursor &c, int64_t row) const {
        const int64_t statistics = row * (plan_.is_f64 ? 8 : 4);
        c.mean = c.mean ? c.mean + statistics : nullptr;
        c.rstd = c.rstd ? c.rstd + statistics : nullptr;
        for (int d = inner_; d >= 0; d--) {
            const int64_t index = d == 0 ? row : row % io_.extent[d];
            row = d == 0 ? 0 : row / io_.extent[d];
            c.x = at(c.x, index * io_.x.stride_bytes[d]);
            c.residual = at(c.residual, index * io_.residual.stride_bytes[d]);
            c.residual_out = at(c.residual_out, index * io_.residual_out.stride_bytes[d]);
            c.to.y = at(c.to.y, index * io_.y.stride_bytes[d]);
            c.to.w = at(c.to.w, index * io_.w.stride_bytes[d]);
            c.to.b = at(c.to.b, index * io_.b.stride_bytes[d]);
        }
    }

    const Plan &plan_;
    const rownorm_io &io_;
    const RowKernels &kernels_;
    int inner_ = 2;
};

} // namespace rownorm
