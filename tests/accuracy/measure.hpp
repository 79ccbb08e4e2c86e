// SPDX-License-Identifier: Apache-2.0
//
// The largest error of a case, in the unit of the documented bound.
#pragma once

#include "case.hpp"

namespace rownorm_test {

/// In ulp of f32 (f64 for f64 rows) at |t*w'| + |b|, or for LayerNorm at |t*w'| + |b| + |w'|: near its mean a
/// row's t goes to zero and its error does not. Infinity if a finite element came out as anything else, or if
/// the call failed. Measured on the default ISA: the others give the same bits.
double largest_error(const Case &c);

} // namespace rownorm_test
