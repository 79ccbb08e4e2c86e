// SPDX-License-Identifier: Apache-2.0
// Where the rows of an array lie in its file.
#pragma once

#include "npy.hpp"

#include <string>

namespace command {

/// The axes along which rows run: first, first + 1, ... last - 1.
struct axis_range {
    std::size_t first = 0;
    std::size_t last = 0;
};

/// "1", "-1" (the last), or "1.." (from 1 to the end), of an array of `axes` axes. An array without axes is
/// one row of one element, whatever the text. `name` is for messages. Throws failure.
axis_range parse_axes(const std::string &text, std::size_t axes, const std::string &name);

/**
 * Rows of n elements. In file order an array is outer x n x inner: column c of row (o, i) stands at
 * (o * n + c) * inner + i, and rows are numbered o * inner + i. Along the last axis of a C-ordered array
 * inner is 1; of a Fortran-ordered one outer is 1.
 */
struct row_layout {
    std::int64_t outer = 0;
    std::int64_t n = 0;
    std::int64_t inner = 0;
    /// The extents of a row's axes where the file has them in the other order than a row's elements are
    /// counted in (Fortran order, several axes); else empty.
    std::vector<std::int64_t> reversed;

    std::int64_t rows() const { return outer * inner; }
    /// The file is one row after the other.
    bool dense() const { return inner == 1 && reversed.empty(); }
    /// The column of a row's element j.
    std::int64_t column(std::int64_t j) const;
};

/// Throws failure (for an empty array whose other extents do not fit).
row_layout rows_of(const array_info &info, axis_range axes, const std::string &name);

/// Where element j of row r stands in the array.
std::vector<std::int64_t> index_of(const array_info &info, axis_range axes, const row_layout &layout, std::int64_t r,
                                   std::int64_t j);

/// Whether row r means the same row in two arrays of equal shape, whatever their orders.
bool same_row_numbers(const array_info &a, const array_info &b, axis_range axes);

} // namespace command
