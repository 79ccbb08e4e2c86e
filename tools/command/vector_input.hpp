// SPDX-License-Identifier: Apache-2.0
// Weight and bias: one vector that all rows share.
#pragma once

#include "array_input.hpp"

namespace command {

/// What a vector must look like, and why.
struct vector_shape {
    std::vector<std::int64_t> row; ///< the extents of a row's axes; one axis of n elements will do as well
    std::int64_t n = 0;
    std::string reason; ///< for messages: what the length is that of
};

class vector_input {
public:
    /// Checks the shape. Throws failure.
    vector_input(array_input in, const vector_shape &shape);

    const array_input &array() const { return in_; }

    /// All elements as f32, or as f64 if `as_f64`.
    std::vector<std::byte> read_all(bool as_f64);

    /// Elements from `first` on. Needs random access.
    void read_part(std::int64_t first, std::span<double> into);

private:
    array_input in_;
    std::vector<std::byte> scratch_;
};

} // namespace command
