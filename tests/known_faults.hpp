// SPDX-License-Identifier: Apache-2.0
//
// Faults that other libraries had, as tables of small rows with the right answer.
#pragma once

#include "formats.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace rownorm_test {

using Values = std::vector<long double>;

enum Formula { rms, partial, layer, l2_max, l2_add, l2_inside, l2_clamp };

/// x, w and b are cycled along the row (an empty w or b is absent), y gives the expected cycle.
struct KnownRow {
    const char *kind;
    Formula formula;
    Mix mix;
    std::int64_t n;
    double eps;
    Values x, w, b, y;
    double tolerance; ///< relative; 0: the very value
    double weight_offset = 0;
    std::int64_t k = 0;
};

inline std::vector<std::byte> cycled(rownorm_type type, const Values &cycle, std::int64_t n) {
    Values row;
    for (std::int64_t i = 0; i < n && !cycle.empty(); ++i)
        row.push_back(cycle[static_cast<std::size_t>(i) % cycle.size()]);
    return elements(type, row);
}

inline Case case_of(const KnownRow &known) {
    Case c;
    c.mix = known.mix;
    c.n = known.n;
    set_formula(c, known.formula);
    c.k = known.k;
    c.eps = known.eps;
    c.gain = !known.w.empty();
    c.bias = !known.b.empty();
    c.weight_offset = known.weight_offset;
    return c;
}

inline bool agrees(long double found, long double expected, double tolerance) {
    if (std::isnan(expected))
        return std::isnan(found);
    return found == expected ||
           std::fabs(found - expected) <= static_cast<long double>(tolerance) * std::fabs(expected);
}

/// On every ISA, against the reference and against the table.
inline void check_known(const KnownRow &known) {
    const Case c = case_of(known);
    const Inputs in{cycled(known.mix.x, known.x, known.n),
                    {},
                    cycled(known.mix.weight, known.w, known.n),
                    cycled(known.mix.weight, known.b, known.n)};
    const Values y = values_of(known.mix.y, check(c, in).outputs.y);
    REQUIRE(y.size() == static_cast<std::size_t>(known.n));
    for (std::size_t i = 0; i < y.size(); ++i)
        if (!agrees(y[i], known.y[i % known.y.size()], known.tolerance)) {
            report(c, {},
                   std::string(known.kind) + ": y[" + std::to_string(i) + "] is " +
                       std::to_string(static_cast<double>(y[i])) + ", expected " +
                       std::to_string(static_cast<double>(known.y[i % known.y.size()])));
            return;
        }
}

} // namespace rownorm_test
