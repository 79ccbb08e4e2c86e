// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic that the library promises, bit for bit, one scalar operation at a time: sums in 64
// virtual lanes (32 for f64, and for LayerNorm's sum of differences), closed every 1,024 elements by a
// fixed tree, chunk sums added in f64, squares by one fused multiply-add, one root in f64; rows whose
// sums overflow or underflow redone in f64. What vectors, tiles and threads do to it must be nothing.
#pragma once

#include "compare.hpp"

namespace rownorm_test {

/// Whether the model holds the case: f64 rows that have to be scaled are beyond it.
bool is_modelled(const Case &c);

/// y, mean and rstd as the library must return them. The residual is not modelled: give the sum as x.
Outputs lane_model(const Case &c, const Inputs &in);

} // namespace rownorm_test
