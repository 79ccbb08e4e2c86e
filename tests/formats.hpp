// SPDX-License-Identifier: Apache-2.0
//
// The element types as the tests see them: sizes, bits and rounding, written apart from the library so
// that a fault there cannot hide here.
#pragma once

#include <rownorm/rownorm.h>

#include <cstddef>
#include <cstdint>

namespace rownorm_test {

std::size_t size_of(rownorm_type type);
const char *name_of(rownorm_type type);

/// The element at `at`, exactly.
long double load(rownorm_type type, const void *at);

/// `value` rounded to the type: nearest, ties to even, overflow to infinity, subnormals kept.
long double round_to(rownorm_type type, long double value);

/// Rounds and writes.
void store(rownorm_type type, void *at, long double value);

/// The element's bits; every NaN becomes the same one, because its sign and payload are unspecified.
std::uint64_t canonical_bits(rownorm_type type, const void *at);

/// The distance between neighbours of the type in the binade of `value` (the smallest subnormal below
/// the normal range).
long double ulp_at(rownorm_type type, long double value);

/// The largest finite value.
long double largest(rownorm_type type);

} // namespace rownorm_test
