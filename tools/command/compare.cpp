// SPDX-License-Identifier: Apache-2.0
#include "compare.hpp"

#include "convert.hpp"
#include "element.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace command {

namespace {

int precision(rownorm_type type) {
    return type == ROWNORM_F64 ? 53 : type == ROWNORM_F32 ? 24 : type == ROWNORM_F16 ? 11 : 8;
}

constexpr std::size_t compared_at_once = 1024;

/// The number's ordinal among all of its type: neighbours differ by 1, and 0 and -0 by none.
std::int64_t ordinal(double value, rownorm_type type) {
    const double magnitude = std::fabs(value);
    std::int64_t bits = 0;
    if (type == ROWNORM_F32) {
        bits = std::bit_cast<std::int32_t>(float(magnitude));
    } else {
        std::array<std::byte, 8> element{};
        store_value(element.data(), type, magnitude);
        std::memcpy(&bits, element.data(), element.size());
    }
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
    const std::int64_t at_a = ordinal(a, ulp_type_), at_b = ordinal(b, ulp_type_);
    return at_a > at_b ? std::uint64_t(at_a) - std::uint64_t(at_b) : std::uint64_t(at_b) - std::uint64_t(at_a);
}

void comparer::add(std::span<const std::byte> a, std::span<const std::byte> b, std::int64_t index) {
    const std::size_t width_a = type_bytes(a_), width_b = type_bytes(b_), count = a.size() / width_a;
    result_.elements += std::int64_t(count);
    if (a_ == b_ && std::memcmp(a.data(), b.data(), a.size()) == 0)
        return;
    std::array<double, compared_at_once> x, y;
    for (std::size_t first = 0; first < count; first += compared_at_once) {
        const std::size_t some = std::min(compared_at_once, count - first);
        load_values(a.subspan(first * width_a, some * width_a), a_, x.data());
        load_values(b.subspan(first * width_b, some * width_b), b_, y.data());
        for (std::size_t i = 0; i < some; ++i)
            if (x[i] != y[i])
                add_one(x[i], y[i], index + std::int64_t(first + i));
    }
}

/// Two elements that are not equal, or NaN.
void comparer::add_one(double x, double y, std::int64_t index) {
    if (std::isnan(x) && std::isnan(y))
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
