// SPDX-License-Identifier: Apache-2.0
#include "convert.hpp"

#include "element.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace command {

static_assert(std::endian::native == std::endian::little, "files are little-endian unless they say otherwise");

namespace {

template <class T>
T get(const std::byte *from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class T>
void put(std::byte *to, T value) {
    std::memcpy(to, &value, sizeof value);
}

template <class T>
void swap_each(std::span<std::byte> elements) {
    for (std::size_t i = 0; i + sizeof(T) <= elements.size(); i += sizeof(T)) {
        const T value = get<T>(&elements[i]);
        if constexpr (sizeof(T) == 2)
            put(&elements[i], __builtin_bswap16(value));
        else if constexpr (sizeof(T) == 4)
            put(&elements[i], __builtin_bswap32(value));
        else
            put(&elements[i], __builtin_bswap64(value));
    }
}

template <class T>
void transpose_each(std::byte *to, const std::byte *from, std::size_t rows, std::size_t columns) {
    // Squares whose lines in both arrays fit the first-level cache together.
    constexpr std::size_t side = 32;
    for (std::size_t r0 = 0; r0 < rows; r0 += side)
        for (std::size_t c0 = 0; c0 < columns; c0 += side)
            for (std::size_t c = c0; c < std::min(c0 + side, columns); ++c)
                for (std::size_t r = r0; r < std::min(r0 + side, rows); ++r)
                    std::memcpy(to + (c * rows + r) * sizeof(T), from + (r * columns + c) * sizeof(T), sizeof(T));
}

/// A binary float of `mantissa_bits` stored bits whose least exponent is `least`, from a double, by its bits.
std::uint16_t round_to_16(double value, int mantissa_bits, int least, double overflow_from) {
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const std::uint16_t infinity = std::uint16_t(0x7fffu >> mantissa_bits << mantissa_bits);
    const double magnitude = std::fabs(value);
    if (std::isnan(value))
        return std::uint16_t(sign | infinity | 1u << (mantissa_bits - 1));
    if (magnitude >= overflow_from)
        return std::uint16_t(sign | infinity);
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    exponent = magnitude == 0 ? least : std::max(exponent - 1, least);
    // In units of the last place the value is at most 2^(bits + 1), where rint() rounds ties to even.
    const auto units = std::uint32_t(std::rint(std::ldexp(magnitude, mantissa_bits - exponent)));
    // A carry into the exponent comes out right by itself.
    return std::uint16_t(sign + (std::uint32_t(exponent - least) << mantissa_bits) + units);
}

double from_f16(std::uint16_t bits) {
    const std::uint64_t sign = std::uint64_t(bits & 0x8000) << 48, exponent = bits >> 10 & 31, mantissa = bits & 1023;
    if (exponent == 0) // zero and subnormals: units of 2^-24
        return (sign != 0 ? -0x1p-24 : 0x1p-24) * double(mantissa);
    const std::uint64_t wide = exponent == 31 ? 2047 : exponent + 1008;
    return std::bit_cast<double>(sign | wide << 52 | mantissa << 42);
}

} // namespace

void swap_bytes(std::span<std::byte> elements, std::size_t element_bytes) {
    if (element_bytes == 2)
        swap_each<std::uint16_t>(elements);
    else if (element_bytes == 4)
        swap_each<std::uint32_t>(elements);
    else
        swap_each<std::uint64_t>(elements);
}

double load_value(const std::byte *element, rownorm_type type) {
    switch (type) {
    case ROWNORM_F16:
        return from_f16(get<std::uint16_t>(element));
    case ROWNORM_BF16:
        return double(std::bit_cast<float>(std::uint32_t(get<std::uint16_t>(element)) << 16));
    case ROWNORM_F64:
        return get<double>(element);
    default:
        return double(get<float>(element));
    }
}

void load_values(std::span<const std::byte> elements, rownorm_type type, double *into) {
    const auto each = [&](auto constant) {
        constexpr rownorm_type t = decltype(constant)::value;
        constexpr std::size_t width = t == ROWNORM_F64 ? 8 : t == ROWNORM_F32 ? 4 : 2;
        for (std::size_t i = 0; i < elements.size() / width; ++i)
            into[i] = load_value(&elements[i * width], t);
    };
    switch (type) {
    case ROWNORM_F16:
        return each(std::integral_constant<rownorm_type, ROWNORM_F16>{});
    case ROWNORM_BF16:
        return each(std::integral_constant<rownorm_type, ROWNORM_BF16>{});
    case ROWNORM_F64:
        return each(std::integral_constant<rownorm_type, ROWNORM_F64>{});
    default:
        return each(std::integral_constant<rownorm_type, ROWNORM_F32>{});
    }
}

void store_value(std::byte *element, rownorm_type type, double value) {
    switch (type) {
    case ROWNORM_F16:
        return put(element, round_to_16(value, 10, -14, 65520.0));
    case ROWNORM_BF16:
        return put(element, round_to_16(value, 7, -126, 0x1.ffp127));
    case ROWNORM_F64:
        return put(element, value);
    default:
        return put(element, float(value));
    }
}

std::vector<std::byte> convert(std::span<const std::byte> elements, rownorm_type from, rownorm_type to) {
    const std::size_t width_in = type_bytes(from), width_out = type_bytes(to);
    const std::size_t count = elements.size() / width_in;
    std::vector<std::byte> out(count * width_out);
    for (std::size_t i = 0; i < count; ++i)
        store_value(out.data() + i * width_out, to, load_value(elements.data() + i * width_in, from));
    return out;
}

void transpose(std::byte *to, const std::byte *from, std::size_t rows, std::size_t columns, std::size_t element_bytes) {
    if (element_bytes == 2)
        transpose_each<std::uint16_t>(to, from, rows, columns);
    else if (element_bytes == 4)
        transpose_each<std::uint32_t>(to, from, rows, columns);
    else
        transpose_each<std::uint64_t>(to, from, rows, columns);
}

} // namespace command
