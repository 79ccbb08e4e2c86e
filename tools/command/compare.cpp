// SPDX-License-Identifier: Apache-2.0
#include "compare.hpp"

#include "convert.hpp"
#include "element.hpp"

#include <array>
#include <cmath>
#include <cstring>

namespace command {

namespace {

int precision(rownorm_type type) {
    return type == ROWNORM_F64 ? 53 : type == ROWNORM_F32 ? 24 : type == ROWNORM_F16 ? 11 : 8;
}

/// The number's place among all of its type: neighbours differ by 1, and 0 and -0 by none.
std::int64_t place(double value, rownorm_type type) {
    std::array<std::byte, 8> element{};
    store_value(element.data(), type, std::fabs(value));
    std::int64_t bits = 0;
    std::memcpy(&bits, element.data(), type_bytes(type));
    return std::signbit(value) ? -bits : bits;
}

void raise(extreme &most, double value, std::int64_t index, double a, double b) {
    if (most.index < 0 || value > most.value)
        most = {value, index, a, b};
}

} // namespace

comparer::comparer(rownorm_type a, rownorm_type b, std::uint64_t allowed_ulp)
    : a_(a), b_(b), ulp_type_(precision(a) <= precision(b) ? a : b), allowed_ulp_(allowed_ulp) {}

std::uint64_t comparer::ulp_between(double a, double b) const {
    const std::int64_t at_a = place(a, ulp_type_), at_b = place(b, ulp_type_);
    return at_a > at_b ? std::uint64_t(at_a) - std::uint64_t(at_b) : std::uint64_t(at_b) - std::uint64_t(at_a);
}

void comparer::add(const std::byte *a, const std::byte *b, std::int64_t index, std::int64_t count) {
    const std::size_t width_a = type_bytes(a_), width_b = type_bytes(b_);
    result_.elements += count;
    if (a_ == b_ && std::memcmp(a, b, std::size_t(count) * width_a) == 0)
        return;
    for (std::int64_t i = 0; i < count; ++i)
        add_one(a + std::size_t(i) * width_a, b + std::size_t(i) * width_b, index + i);
}

void comparer::add_one(const std::byte *a, const std::byte *b, std::int64_t index) {
    if (a_ == b_ && std::memcmp(a, b, type_bytes(a_)) == 0)
        return;
    const double x = load_value(a, a_), y = load_value(b, b_);
    if (x == y || (std::isnan(x) && std::isnan(y)))
        return;
    ++result_.differing;
    if (std::isnan(x) || std::isnan(y)) {
        ++result_.nan_against;
        ++result_.beyond;
        return;
    }
    const std::uint64_t ulp = ulp_between(x, y);
    result_.beyond += ulp > allowed_ulp_;
    raise(result_.ulp, double(ulp), index, x, y);
    raise(result_.absolute, std::fabs(x - y), index, x, y);
    raise(result_.relative, std::fabs(x - y) / std::fabs(y), index, x, y);
}

} // namespace command
