// SPDX-License-Identifier: Apache-2.0
//
// What a call returned, and how it is judged: against the reference within the documented bound, and
// against another call by bits.
#pragma once

#include "case.hpp"

#include <string>
#include <vector>

namespace rownorm_test {

/// Dense rows; mean and rstd (one a row, f32 or f64) are empty where they were not asked for.
struct Outputs {
    std::vector<std::byte> y, residual_out, mean, rstd;
};

/// The documented bound: ulp of f32 (of f64 for f64 rows) before the rounding to y's type.
constexpr double proven_ulp = 12;
/// LayerNorm's further term, a multiple of 2^-24 * |w'| (2^-53 for f64): measured were 1.2 on ordinary
/// rows and 7.7 on periodic ones, where each lane adds one value again and again.
constexpr double measured_layer_term = 10;

struct Verdict {
    std::string fault;     ///< empty if all is right; else the first thing that is not
    double worst_ulp = 0;  ///< of |t*w'| + |b|, over all elements with a finite y
    double worst_term = 0; ///< what goes beyond proven_ulp, as a multiple of 2^-24 * |w'|
};
Verdict compare_to_reference(const Case &c, const Inputs &in, const Outputs &out);

/// Empty if both hold the same bits (every NaN counting as one), else the first difference.
std::string difference(const Case &c, const Outputs &expected, const Outputs &found);

/// The same for one array of a type.
std::string difference(rownorm_type type, const std::vector<std::byte> &expected, const std::vector<std::byte> &found,
                       const char *what);

/// f64 for f64 rows, else f32.
rownorm_type statistic_type(const Case &c);

} // namespace rownorm_test
