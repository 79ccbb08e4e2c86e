// SPDX-License-Identifier: Apache-2.0
#include "formats.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace rownorm_test {
namespace {

/// A 16-bit IEEE-like format: `precision` bits of significand with the hidden one, then the exponent.
struct Half {
    int precision;
    int min_exponent; ///< of the smallest normal number
    int max_exponent;
};

constexpr Half f16{11, -14, 15};
constexpr Half bf16{8, -126, 127};

const Half &half_of(rownorm_type type) { return type == ROWNORM_F16 ? f16 : bf16; }

bool is_half(rownorm_type type) { return type == ROWNORM_F16 || type == ROWNORM_BF16; }

template <class To, class From>
To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

template <class T>
T read(const void *at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

/// To double by rounding to odd: a second rounding, to fewer bits, then gives what one would have given.
double to_odd_double(long double value) {
    const double nearest = static_cast<double>(value);
    if (!std::isfinite(nearest) || static_cast<long double>(nearest) == value)
        return nearest;
    auto bits = bits_as<std::uint64_t>(nearest);
    if (std::fabs(static_cast<long double>(nearest)) > std::fabs(value))
        --bits;
    return bits_as<double>(bits | 1);
}

std::uint16_t encode_half(const Half &format, long double value) {
    const int stored = format.precision - 1;
    const auto infinity = static_cast<unsigned>((format.max_exponent - format.min_exponent + 2) << stored);
    const auto bits = bits_as<std::uint64_t>(to_odd_double(value));
    const auto sign = static_cast<unsigned>(bits >> 63) << 15;
    if (std::isnan(value))
        return static_cast<std::uint16_t>(infinity | 1U << (stored - 1));
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
    if (exponent > format.max_exponent)
        return static_cast<std::uint16_t>(sign | infinity);
    const int below = exponent < format.min_exponent ? format.min_exponent - exponent : 0;
    const int drop = 53 - format.precision + below;
    if (drop > 54) // below half of the smallest subnormal
        return static_cast<std::uint16_t>(sign);
    const std::uint64_t significand = (bits & ((1ULL << 52) - 1)) | 1ULL << 52;
    std::uint64_t kept = significand >> drop;
    const std::uint64_t rest = significand & ((1ULL << drop) - 1), tie = 1ULL << (drop - 1);
    if (rest > tie || (rest == tie && (kept & 1) != 0))
        ++kept; // a carry runs on into the exponent, as it should
    const auto biased = below > 0 ? 0U : static_cast<unsigned>(exponent - format.min_exponent);
    return static_cast<std::uint16_t>(sign | ((biased << stored) + static_cast<unsigned>(kept)));
}

long double decode_half(const Half &format, unsigned bits) {
    const int stored = format.precision - 1;
    const unsigned fraction = bits & ((1U << stored) - 1);
    const int biased = static_cast<int>((bits & 0x7fff) >> stored);
    const long double sign = (bits & 0x8000) != 0 ? -1.0L : 1.0L;
    if (biased == format.max_exponent - format.min_exponent + 2)
        return fraction == 0 ? sign * std::numeric_limits<long double>::infinity()
                             : std::numeric_limits<long double>::quiet_NaN();
    const unsigned significand = biased == 0 ? fraction : fraction | 1U << stored;
    const int exponent = format.min_exponent + (biased == 0 ? 0 : biased - 1) - stored;
    return sign * std::ldexp(static_cast<long double>(significand), exponent);
}

} // namespace

std::size_t size_of(rownorm_type type) {
    if (type == ROWNORM_F64)
        return 8;
    return type == ROWNORM_F32 ? 4 : 2;
}

const char *name_of(rownorm_type type) {
    static const char *const names[] = {"as-x", "f32", "f16", "bf16", "f64"};
    return type < 5 ? names[type] : "unknown";
}

long double load(rownorm_type type, const void *at) {
    if (type == ROWNORM_F32)
        return static_cast<long double>(read<float>(at));
    if (type == ROWNORM_F64)
        return static_cast<long double>(read<double>(at));
    return decode_half(half_of(type), read<std::uint16_t>(at));
}

long double round_to(rownorm_type type, long double value) {
    if (type == ROWNORM_F32)
        return static_cast<long double>(static_cast<float>(value));
    if (type == ROWNORM_F64)
        return static_cast<long double>(static_cast<double>(value));
    return decode_half(half_of(type), encode_half(half_of(type), value));
}

void store(rownorm_type type, void *at, long double value) {
    if (type == ROWNORM_F32) {
        const auto rounded = static_cast<float>(value);
        std::memcpy(at, &rounded, sizeof rounded);
    } else if (type == ROWNORM_F64) {
        const auto rounded = static_cast<double>(value);
        std::memcpy(at, &rounded, sizeof rounded);
    } else {
        const std::uint16_t bits = encode_half(half_of(type), value);
        std::memcpy(at, &bits, sizeof bits);
    }
}

std::uint64_t canonical_bits(rownorm_type type, const void *at) {
    if (type == ROWNORM_F64) {
        const auto bits = read<std::uint64_t>(at);
        return (bits & ~(1ULL << 63)) > 0x7ffULL << 52 ? 0x7ff8ULL << 48 : bits;
    }
    if (type == ROWNORM_F32) {
        const auto bits = read<std::uint32_t>(at);
        return (bits & 0x7fffffffU) > 0x7f800000U ? 0x7fc00000U : bits;
    }
    const unsigned bits = read<std::uint16_t>(at);
    const unsigned infinity = type == ROWNORM_F16 ? 0x7c00U : 0x7f80U;
    return (bits & 0x7fffU) > infinity ? 0x7fffU : bits;
}

long double ulp_at(rownorm_type type, long double value) {
    int precision = 24, min_exponent = -126;
    if (type == ROWNORM_F64) {
        precision = 53;
        min_exponent = -1022;
    } else if (is_half(type)) {
        precision = half_of(type).precision;
        min_exponent = half_of(type).min_exponent;
    }
    int exponent = min_exponent;
    if (value != 0 && std::isfinite(value)) {
        const int own = std::ilogb(value);
        exponent = own > min_exponent ? own : min_exponent;
    }
    return std::ldexp(1.0L, exponent - (precision - 1));
}

long double largest(rownorm_type type) {
    if (type == ROWNORM_F64)
        return static_cast<long double>(std::numeric_limits<double>::max());
    if (type == ROWNORM_F32)
        return static_cast<long double>(std::numeric_limits<float>::max());
    return type == ROWNORM_F16 ? 65504.0L : decode_half(bf16, 0x7f7f);
}

} // namespace rownorm_test
