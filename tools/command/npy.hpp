// SPDX-License-Identifier: Apache-2.0
// Headers of .npy files, versions 1, 2 and 3 of the format.
#pragma once

#include "element.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace command {

/// What a header says.
struct array_info {
    element of;
    std::vector<std::int64_t> shape;
    bool fortran = false;
    std::int64_t elements = 0;   ///< the product of the shape
    std::int64_t bytes = 0;      ///< of the elements
    std::int64_t data_begin = 0; ///< bytes before the first element
};

/// Headers up to this length are read: all that version 1 can hold. numpy writes about 118 bytes.
constexpr std::size_t most_header_bytes = 65536;
/// numpy 2 has arrays of up to 64 axes.
constexpr std::size_t most_axes = 64;

/// Fills the span from the file's next bytes; gives how many there were.
using read_bytes = std::function<std::size_t(std::span<std::byte>)>;

/// Reads a header up to the first byte of data. Throws format_error.
array_info read_npy_header(const read_bytes &read, std::optional<rownorm_type> named);

/// A version 1 header (2 if it is longer than that can hold), which ends at a multiple of 64 bytes.
std::string write_npy_header(const array_info &info);

/// Sets elements and bytes from the shape. Throws format_error if they do not fit 63 bits.
void count_elements(array_info &info);

} // namespace command
