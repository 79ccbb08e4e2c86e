// SPDX-License-Identifier: Apache-2.0
#include "convert.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

using namespace command;

namespace {

double value_of(std::uint16_t bits, rownorm_type type) {
    std::array<std::byte, 2> element{};
    std::memcpy(element.data(), &bits, 2);
    return load_value(element.data(), type);
}

std::uint16_t bits_of(double value, rownorm_type type) {
    std::array<std::byte, 2> element{};
    store_value(element.data(), type, value);
    std::uint16_t bits = 0;
    std::memcpy(&bits, element.data(), 2);
    return bits;
}

} // namespace

TEST_CASE("every 16-bit float keeps its bits, and ties between neighbours go to the even one") {
    for (const rownorm_type type : {rownorm_type(ROWNORM_F16), rownorm_type(ROWNORM_BF16)}) {
        const unsigned infinity = type == ROWNORM_F16 ? 0x7c00 : 0x7f80;
        for (unsigned b = 0; b < infinity; ++b) {
            const auto bits = std::uint16_t(b);
            const double value = value_of(bits, type);
            REQUIRE(bits_of(value, type) == bits);
            REQUIRE(bits_of(-value, type) == (bits | 0x8000));
            // The number after the largest is where infinity begins.
            const double step = std::ldexp(1.0, type == ROWNORM_F16 ? 5 : 120);
            const double next = b + 1 == infinity ? value + step : value_of(std::uint16_t(b + 1), type);
            const double middle = value + (next - value) / 2;
            REQUIRE(bits_of(middle, type) == b + (b & 1));
            REQUIRE(bits_of(std::nextafter(middle, 0), type) == b);
            REQUIRE(bits_of(std::nextafter(middle, INFINITY), type) == b + 1);
        }
        CHECK(bits_of(INFINITY, type) == infinity);
        CHECK(bits_of(1e300, type) == infinity);
        CHECK(std::isinf(value_of(std::uint16_t(infinity), type)));
        for (unsigned b = infinity + 1; b < 0x8000; ++b) {
            REQUIRE(std::isnan(value_of(std::uint16_t(b), type)));
            REQUIRE(std::isnan(value_of(bits_of(value_of(std::uint16_t(b), type), type), type)));
        }
    }
}

TEST_CASE("known halves") {
    CHECK(value_of(0x3c00, ROWNORM_F16) == 1.0);
    CHECK(value_of(0x0001, ROWNORM_F16) == 0x1p-24);
    CHECK(value_of(0x7bff, ROWNORM_F16) == 65504.0);
    CHECK(value_of(0x3f80, ROWNORM_BF16) == 1.0);
    CHECK(value_of(0x0001, ROWNORM_BF16) == 0x1p-133);
    CHECK(bits_of(65519, ROWNORM_F16) == 0x7bff);
    CHECK(bits_of(65520, ROWNORM_F16) == 0x7c00);
    CHECK(bits_of(1.00390625, ROWNORM_BF16) == 0x3f80);
    CHECK(bits_of(1.01171875, ROWNORM_BF16) == 0x3f82);
}

TEST_CASE("bytes are reversed within elements") {
    std::array<std::uint8_t, 8> bytes{};
    for (const std::size_t width : {2u, 4u, 8u}) {
        std::iota(bytes.begin(), bytes.end(), std::uint8_t(0));
        swap_bytes(std::as_writable_bytes(std::span(bytes)), width);
        for (std::size_t i = 0; i < 8; ++i)
            CHECK(bytes[i] == i / width * width + (width - 1 - i % width));
    }
}

TEST_CASE("transposing, for sizes around the tile's side") {
    for (const std::size_t width : {2u, 4u, 8u})
        for (const std::size_t rows : {1u, 2u, 31u, 32u, 33u, 65u})
            for (const std::size_t columns : {1u, 3u, 31u, 32u, 33u, 64u, 70u}) {
                std::vector<std::byte> from(rows * columns * width), to(from.size());
                for (std::size_t i = 0; i < rows * columns; ++i)
                    std::memcpy(&from[i * width], &i, width);
                transpose(to.data(), from.data(), rows, columns, width);
                bool right = true;
                for (std::size_t r = 0; r < rows; ++r)
                    for (std::size_t c = 0; c < columns; ++c)
                        right = right &&
                                std::memcmp(&to[(c * rows + r) * width], &from[(r * columns + c) * width], width) == 0;
                CHECK(right);
            }
}
