// SPDX-License-Identifier: Apache-2.0
// What is computed of a row, in numbers as the arithmetic uses them. Also for code that is compiled per ISA.
#pragma once

#include "root.hpp"

#include <rownorm/rownorm.h>

namespace rownorm {

struct Formula {
    rownorm_op op;
    rownorm_l2_eps l2_eps;
    uint32_t round;
    bool is_f64;
    int64_t n, k;
    double eps, weight_offset; // -0.0 for no offset: the one number that leaves every w as it is, -0 too
    Count elements;            // k
};

} // namespace rownorm
