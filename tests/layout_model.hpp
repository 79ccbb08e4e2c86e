// SPDX-License-Identifier: Apache-2.0
//
// What the rules on memory allow, judged row by row and byte by byte, as plainly as they read: the library's
// own check must come to the same answer for any layout in a small block of memory.
#pragma once

#include "formats.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace rownorm_test {

using Extent = std::array<std::int64_t, 3>;

/// An argument's rows in the block: offsets of the first byte, in row order.
struct Argument {
    rownorm_type type = ROWNORM_F32;
    std::int64_t base = 0;
    std::array<std::int64_t, 3> stride{};
    std::int64_t row_bytes = 0;
    bool output = false, may_be_alias = false;
    bool one_block = false; ///< mean and rstd: dense, all rows as one

    std::vector<std::int64_t> rows(const Extent &extent) const {
        if (one_block)
            return {base};
        std::vector<std::int64_t> at;
        for (std::int64_t i = 0; i < extent[0]; ++i)
            for (std::int64_t j = 0; j < extent[1]; ++j)
                for (std::int64_t k = 0; k < extent[2]; ++k)
                    at.push_back(base + i * stride[0] + j * stride[1] + k * stride[2]);
        return at;
    }
};

inline bool share_a_byte(const Argument &a, std::int64_t a_row, const Argument &b, std::int64_t b_row) {
    return a_row < b_row + b.row_bytes && b_row < a_row + a.row_bytes;
}

/// Address and used strides are multiples of the element, and no used stride is negative.
inline bool is_aligned(const Argument &a, const Extent &extent) {
    const auto size = static_cast<std::int64_t>(size_of(a.type));
    bool aligned = a.base % size == 0;
    for (std::size_t d = 0; d < 3; ++d)
        aligned = aligned && (a.one_block || extent[d] == 1 || (a.stride[d] >= 0 && a.stride[d] % size == 0));
    return aligned;
}

inline bool is_exact_alias(const Argument &a, const Argument &b, const Extent &extent) {
    bool same = a.base == b.base && size_of(a.type) == size_of(b.type) && a.one_block == b.one_block;
    for (std::size_t d = 0; d < 3; ++d)
        same = same && (extent[d] == 1 || a.stride[d] == b.stride[d]);
    return same;
}

/// Rows of one output against each other, or of an output against those of another argument.
inline bool are_apart(const Argument &output, const Argument &other, const Extent &extent) {
    const std::vector<std::int64_t> a = output.rows(extent), b = other.rows(extent);
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j)
            if (share_a_byte(output, a[i], other, b[j]) && !(&output == &other && i == j))
                return false;
    return true;
}

/// The arguments that are there, in the order of `argument_names`.
using Layout = std::array<std::optional<Argument>, 8>;
constexpr const char *argument_names[] = {"x", "y", "residual", "residual_out", "w", "b", "mean", "rstd"};

inline bool is_legal(const Layout &layout, const Extent &extent) {
    for (const auto &a : layout)
        for (const auto &b : layout) {
            if (a && !is_aligned(*a, extent))
                return false;
            if (!a || !b || !a->output)
                continue;
            const bool alias = &a != &b && !a->one_block && b->may_be_alias && is_exact_alias(*a, *b, extent);
            if (!alias && !are_apart(*a, *b, extent))
                return false;
        }
    return true;
}

} // namespace rownorm_test
