// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <fmt/format.h>

#include <array>

namespace command {

namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }

} // namespace

std::size_t utf8_length(std::string_view bytes) {
    if (bytes.empty())
        return 0;
    const unsigned lead = static_cast<unsigned char>(bytes[0]);
    const std::size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
    if (length == 0 || length > bytes.size())
        return 0;
    std::uint32_t point = length == 1 ? lead : lead & (0xffu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if (!is_continuation(bytes[i]))
            return 0;
        point = point << 6 | (static_cast<unsigned char>(bytes[i]) & 0x3fu);
    }
    // Overlong forms, surrogates and what lies above Unicode are not UTF-8.
    constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    const bool valid = point >= least[length] && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    return valid ? length : 0;
}

std::string printable(std::string_view bytes) {
    std::string out;
    while (!bytes.empty()) {
        std::size_t length = utf8_length(bytes);
        const unsigned first = static_cast<unsigned char>(bytes[0]);
        // C1 controls (U+0080 to U+009F) move a terminal as the C0 ones do.
        const bool control = first < 0x20 || first == 0x7f ||
                             (length == 2 && first == 0xc2 && static_cast<unsigned char>(bytes[1]) < 0xa0);
        if (length > 0 && !control) {
            out += bytes.substr(0, length);
        } else {
            length = 1;
            out += first == '\n' ? "\\n" : fmt::format("\\x{:02x}", first);
        }
        bytes.remove_prefix(length);
    }
    return out;
}

std::string in_quotes(std::string_view text) {
    constexpr std::size_t most = 60;
    const bool cut = text.size() > most;
    return fmt::format("'{}{}'", printable(text.substr(0, most)), cut ? "..." : "");
}

std::string shape_text(const std::vector<std::int64_t> &shape) {
    return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::string bytes_text(std::uint64_t bytes) {
    if (bytes < 10240)
        return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
    constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = double(bytes) / 1024;
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < units.size(); ++unit)
        value /= 1024;
    return fmt::format("{:.2f} {}", value, units[unit]);
}

std::string grouped(std::uint64_t number) {
    std::string text;
    for (; number >= 1000; number /= 1000)
        text = fmt::format(",{:03}{}", number % 1000, text);
    return fmt::format("{}{}", number, text);
}

} // namespace command
