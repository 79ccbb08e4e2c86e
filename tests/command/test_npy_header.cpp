// SPDX-License-Identifier: Apache-2.0
#include "npy.hpp"

#include "failure.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

using namespace command;

namespace {

array_info header_of(std::string_view file, std::optional<rownorm_type> named = std::nullopt) {
    return read_npy_header(
        [&](std::span<std::byte> into) {
            const std::size_t count = std::min(into.size(), file.size());
            std::memcpy(into.data(), file.data(), count);
            file.remove_prefix(count);
            return count;
        },
        named);
}

const std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";

/// A header of that many bytes: the dict, cut or followed by blanks or a comment.
std::string file_of(int version, std::size_t length, char filler = ' ') {
    std::string file("\x93NUMPY", 6);
    file += char(version);
    file += '\0';
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
        file += char(length >> (8 * i) & 0xff);
    std::string text = dict.substr(0, length);
    text.resize(length, filler);
    return file + text;
}

} // namespace

namespace {

bool is_read(const std::string &file) {
    try {
        const array_info info = header_of(file);
        return info.data_begin == std::int64_t(file.size()) && info.elements == 6;
    } catch (const format_error &) {
        return false;
    }
}

} // namespace

TEST_CASE("every header length from 0 to 70,000") {
    for (int version = 1; version <= 3; ++version)
        for (std::size_t length = 0; length <= (version == 1 ? 65535 : 70000); ++length) {
            if (version != 2 && length > 1000 && length % 13 != 0 && length < 65500)
                continue; // the versions differ in the width of the length only
            // Up to the dict's closing brace there is no dict, and above the cap there is none that is read.
            const bool good = length >= dict.size() && length <= most_header_bytes;
            const bool blanks_too = length < 1000 || length % 997 == 0; // slower, and no different
            if (is_read(file_of(version, length, '#')) != good ||
                (blanks_too && is_read(file_of(version, length)) != good)) {
                CAPTURE(version);
                CAPTURE(length);
                FAIL_CHECK("a header of this length is " << (good ? "refused" : "read"));
            }
        }
}

TEST_CASE("a header is written as numpy does, and read back the same") {
    for (std::size_t axes = 0; axes <= most_axes; ++axes)
        for (const std::int64_t extent : {std::int64_t(0), std::int64_t(1), std::int64_t(1) << 40}) {
            array_info info;
            info.of = element_for(ROWNORM_F16);
            info.fortran = axes % 2 == 1;
            info.shape.assign(axes, axes > 1 && extent > 1 ? 1 : extent);
            count_elements(info);
            const std::string header = write_npy_header(info);
            const array_info back = header_of(header);
            CHECK(header.size() % 64 == 0);
            CHECK(header[6] == 1);
            CHECK(header.back() == '\n');
            CHECK(std::size_t(back.data_begin) == header.size());
            CHECK(back.shape == info.shape);
            CHECK(back.fortran == info.fortran);
            CHECK(back.elements == info.elements);
            CHECK(back.of.descr == "<f2");
        }
    array_info info;
    info.of = element_for(ROWNORM_F32);
    info.shape = {2, 3};
    CHECK(write_npy_header(info).substr(0, 10 + dict.size()) == std::string("\x93NUMPY\1\0\x76\0", 10) + dict);
}

TEST_CASE("no byte beyond the header is asked for") {
    const std::string file = file_of(1, 118) + "data";
    std::size_t taken = 0;
    read_npy_header(
        [&](std::span<std::byte> into) {
            std::memcpy(into.data(), file.data() + taken, into.size());
            taken += into.size();
            return into.size();
        },
        std::nullopt);
    CHECK(taken == 128);
}
