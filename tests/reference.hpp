// SPDX-License-Identifier: Apache-2.0
//
// The reference: the papers' formulas in long double, one row at a time, as plain loops. It shares no
// code with the library and knows nothing of lanes, chunks or vectors; its sums are compensated, so
// that they are right to long double's precision for any length.
#pragma once

#include "case.hpp"

#include <vector>

namespace rownorm_test {

struct ReferenceRow {
    std::vector<long double> s; ///< the row that is normalised: x, or x + residual rounded to the residual's type
    std::vector<long double> t; ///< the normalised values, exact
    long double mean = 0;       ///< LayerNorm only
    long double rstd = 0;       ///< 1/sqrt(v) or 1/d
    long double std = 0;        ///< LayerNorm: the root of the biased variance
};

/// `residual` may be null.
ReferenceRow reference_row(const Case &c, const std::byte *x, const std::byte *residual);

/// w' = w + weight_offset as the contract forms it: in f32, or in f64 for f64 rows.
long double offset_weight(const Case &c, long double w);

/// Elements that enter the statistic: n, or k or p's share of it for partial RMSNorm.
std::int64_t statistic_length(const Case &c);

} // namespace rownorm_test
