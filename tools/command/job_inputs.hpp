// SPDX-License-Identifier: Apache-2.0
// The arrays that `rownorm normalize` reads, opened and checked against one another.
#pragma once

#include "layout.hpp"
#include "normalizer.hpp"
#include "vector_input.hpp"

namespace command {

struct job_inputs {
    array_input x;
    axis_range axes;
    row_layout x_rows;
    std::optional<array_input> residual;
    row_layout residual_rows;
    std::optional<vector_input> weight, bias;
    job_shape shape;

    bool empty() const { return x.info.elements == 0; }
    /// Bytes of weight and bias in memory.
    std::size_t vector_bytes() const;
};

/// Reads the headers and checks everything that they and the options allow to check. Throws failure.
job_inputs open_inputs(const normalize_options &options);

} // namespace command
