// SPDX-License-Identifier: Apache-2.0
#include "npy.hpp"

#include "failure.hpp"
#include "literal.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace command {

namespace {

constexpr std::string_view magic{"\x93NUMPY", 6};

std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// What people pass by mistake, by how it begins.
const char *other_format(std::string_view begin) {
    struct known {
        std::string_view begin;
        const char *what;
    };
    static constexpr std::array<known, 11> formats{{
        {"PK\x03\x04", "a zip archive (name an array in an .npz file as FILE.npz:NAME)"},
        {"PK\x05\x06", "an empty zip archive"},
        {"\x1f\x8b", "gzip data (unpack it first)"},
        {"\x28\xb5\x2f\xfd", "zstd data (unpack it first)"},
        {"BZh", "bzip2 data (unpack it first)"},
        {"\xfd\x37zXZ", "xz data (unpack it first)"},
        {"version ", "a git-lfs pointer (fetch the file itself with git lfs pull)"},
        {"<", "a web page or XML"},
        {"\x80", "a pickle, which is not read"},
        {"\xef\xbb\xbf", "a byte-order mark"},
        {"\x89HDF", "an HDF5 file"},
    }};
    for (const known &format : formats)
        if (begin.starts_with(format.begin))
            return format.what;
    return nullptr;
}

[[noreturn]] void refuse_magic(std::string_view begin) {
    if (begin.empty())
        fail_format("an empty file found; expected an .npy file");
    if (magic.starts_with(begin))
        fail_format("only {} found; expected an .npy header", bytes_text(begin.size()));
    if (const char *what = other_format(begin))
        fail_format("{} found; expected an .npy file", what);
    fail_format("a file that begins with {} found; expected an .npy file, which begins with {}",
                in_quotes(begin.substr(0, 6)), in_quotes(magic));
}

/// The length of the header from the prefix: magic, version, then 2 or 4 bytes of length.
std::size_t read_prefix(const read_bytes &read, std::int64_t &data_begin, unsigned &version) {
    std::array<std::byte, 12> prefix{};
    const std::size_t begin = read(std::span(prefix).first(8));
    if (begin < magic.size() || !as_text(prefix).starts_with(magic))
        refuse_magic(as_text(std::span(prefix).first(begin)));
    version = unsigned(prefix[6]);
    if (begin == 8 && (version < 1 || version > 3 || prefix[7] != std::byte{0}))
        fail_format(".npy version {}.{} found; expected 1.0, 2.0 or 3.0", version, unsigned(prefix[7]));
    const std::size_t width = version == 1 ? 2 : 4;
    if (begin < 8 || read(std::span(prefix).subspan(8, width)) < width)
        fail_format("the file ends within the .npy header's first {} bytes", 8 + width);
    std::size_t length = 0;
    for (std::size_t i = width; i-- > 0;)
        length = length << 8 | std::size_t(prefix[8 + i]);
    data_begin = std::int64_t(8 + width + length);
    return length;
}

void require_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0)
            fail_format("a version 3 header that is not UTF-8 found");
        text.remove_prefix(length);
    }
}

std::string read_text(const read_bytes &read, std::size_t length) {
    if (length > most_header_bytes)
        fail_format("a header of {} bytes found; at most {} are read", length, most_header_bytes);
    std::string text(length, '\0');
    const std::size_t got = read(std::as_writable_bytes(std::span(text)));
    if (got < length)
        fail_format("a header of {} bytes promised; the file ends after {} of them", length, got);
    return text;
}

std::string describe(const literal &value) {
    using kind = literal::kind;
    switch (value.what) {
    case kind::none:
        return "None";
    case kind::boolean:
        return value.truth ? "True" : "False";
    case kind::integer:
    case kind::text:
        return in_quotes(value.text);
    case kind::tuple:
        return "a tuple";
    case kind::list:
        return "a list";
    case kind::dict:
        return "a dict";
    }
    return "nothing";
}

element read_descr(const literal &value, std::optional<rownorm_type> named) {
    if (value.what == literal::kind::list)
        fail_format("a structured type found; expected f2, f4 or f8");
    if (value.what != literal::kind::text)
        fail_format("type {} found; expected f2, f4 or f8", describe(value));
    return element_from_descr(value.text, named);
}

bool read_order(const literal &value) {
    if (value.what != literal::kind::boolean)
        fail_format("fortran_order {} found; expected True or False", describe(value));
    return value.truth;
}

std::vector<std::int64_t> read_shape(const literal &value) {
    if (value.what != literal::kind::tuple)
        fail_format("shape {} found; expected a tuple such as (2, 3) or (6,)", describe(value));
    if (value.items.size() > most_axes)
        fail_format("a shape of {} axes found; at most {} are read", value.items.size(), most_axes);
    std::vector<std::int64_t> shape;
    for (const literal &item : value.items) {
        if (item.what != literal::kind::integer || item.negative)
            fail_format("{} in the shape found; expected integers from 0", describe(item));
        if (item.too_large || item.magnitude > std::uint64_t(std::numeric_limits<std::int64_t>::max()))
            fail_format("{} in the shape found; it does not fit 63 bits", describe(item));
        shape.push_back(std::int64_t(item.magnitude));
    }
    return shape;
}

/// The dict's values for exactly the three keys, each once.
std::array<const literal *, 3> three_values(const literal &dict) {
    static constexpr std::array<std::string_view, 3> keys{"descr", "fortran_order", "shape"};
    std::array<const literal *, 3> values{};
    if (dict.what != literal::kind::dict)
        fail_format("a header with {} found; expected a dict", describe(dict));
    for (std::size_t i = 0; i < dict.items.size(); i += 2) {
        const literal &key = dict.items[i];
        const auto found = std::find(keys.begin(), keys.end(), key.text);
        if (key.what != literal::kind::text || found == keys.end())
            fail_format("key {} in the header found; expected 'descr', 'fortran_order' and 'shape' only",
                        describe(key));
        const literal *&value = values[std::size_t(found - keys.begin())];
        if (value != nullptr)
            fail_format("key '{}' found twice in the header", *found);
        value = &dict.items[i + 1];
    }
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (values[i] == nullptr)
            fail_format("a header without key '{}' found", keys[i]);
    return values;
}

} // namespace

void count_elements(array_info &info) {
    const auto too_many = [&] {
        fail_format("shape {} of {} found; its size in bytes does not fit 63 bits", shape_text(info.shape),
                    type_name(info.of.type));
    };
    info.elements = 1;
    // With a zero anywhere there are no elements, whatever the others multiply to.
    if (std::find(info.shape.begin(), info.shape.end(), 0) != info.shape.end())
        info.elements = 0;
    else
        for (const std::int64_t extent : info.shape)
            if (__builtin_mul_overflow(info.elements, extent, &info.elements))
                too_many();
    std::int64_t end = 0;
    if (__builtin_mul_overflow(info.elements, std::int64_t(type_bytes(info.of.type)), &info.bytes) ||
        __builtin_add_overflow(info.bytes, info.data_begin, &end))
        too_many();
}

array_info read_npy_header(const read_bytes &read, std::optional<rownorm_type> named) {
    array_info info;
    unsigned version = 0;
    const std::string text = read_text(read, read_prefix(read, info.data_begin, version));
    if (version == 3)
        require_utf8(text);
    const literal dict = parse_literal(text);
    const auto [descr, order, shape] = three_values(dict);
    info.of = read_descr(*descr, named);
    info.fortran = read_order(*order);
    info.shape = read_shape(*shape);
    count_elements(info);
    return info;
}

std::string write_npy_header(const array_info &info) {
    const std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", info.of.descr,
                                         info.fortran ? "True" : "False", shape_text(info.shape));
    // Blanks and a line end lead to the next multiple of 64.
    const auto padded = [&](std::size_t prefix) { return (prefix + dict.size() + 1 + 63) / 64 * 64 - prefix; };
    const bool fits_version_1 = padded(10) <= 65535;
    const std::size_t length = padded(fits_version_1 ? 10 : 12);
    std::string header(magic);
    header += fits_version_1 ? '\1' : '\2';
    header += '\0';
    for (std::size_t i = 0; i < (fits_version_1 ? 2u : 4u); ++i)
        header += char(length >> (8 * i) & 0xff);
    header += dict;
    header.append(length - dict.size() - 1, ' ');
    return header + '\n';
}

} // namespace command
