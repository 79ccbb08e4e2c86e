// SPDX-License-Identifier: Apache-2.0
// Elements in memory: byte order, and plain conversions of single values.
#pragma once

#include <rownorm/rownorm.h>

#include <cstddef>
#include <span>
#include <vector>

namespace command {

/// Reverses the bytes of every element.
void swap_bytes(std::span<std::byte> elements, std::size_t element_bytes);

/// The value of one element in this machine's byte order, exactly.
double load_value(const std::byte *element, rownorm_type type);
/// The same for all of a run.
void load_values(std::span<const std::byte> elements, rownorm_type type, double *into);
/// Rounds to nearest, ties to even; NaN stays NaN.
void store_value(std::byte *element, rownorm_type type, double value);

std::vector<std::byte> convert(std::span<const std::byte> elements, rownorm_type from, rownorm_type to);

/// Turns `rows` x `columns` elements into columns x rows. The two must not overlap.
void transpose(std::byte *to, const std::byte *from, std::size_t rows, std::size_t columns, std::size_t element_bytes);

} // namespace command
