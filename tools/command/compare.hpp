// SPDX-License-Identifier: Apache-2.0
// Differences of elements: absolute, relative and in units in the last place.
#pragma once

#include <rownorm/rownorm.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace command {

/// The largest difference of one kind, and where it was.
struct extreme {
    double value = 0;
    std::int64_t index = -1; ///< -1: there was none
    double a = 0, b = 0;
};

/**
 * What two arrays differ by. Two NaNs are equal, and so are 0 and -0. The ulp of two numbers is the count of numbers of
 * the type from one to the other; of two types it is the less precise one's, to which the other element
 * is rounded first.
 */
struct comparison {
    std::int64_t elements = 0;
    std::int64_t differing = 0;   ///< not equal as numbers
    std::int64_t beyond = 0;      ///< by more ulp than allowed, or a NaN against a number
    std::int64_t nan_against = 0; ///< a NaN against a number
    extreme absolute;
    extreme relative; ///< to b
    extreme ulp;
};

class comparer {
public:
    comparer(rownorm_type a, rownorm_type b, std::uint64_t allowed_ulp);

    /// The type whose ulp are counted.
    rownorm_type ulp_type() const { return ulp_type_; }

    /// Takes elements in, as many of each, the first of which has number `index`.
    void add(std::span<const std::byte> a, std::span<const std::byte> b, std::int64_t index);
    const comparison &result() const { return result_; }

private:
    void add_one(double x, double y, std::int64_t index);
    std::uint64_t ulp_between(double a, double b) const;

    const rownorm_type a_, b_, ulp_type_;
    const std::uint64_t allowed_ulp_;
    comparison result_;
};

} // namespace command
