// SPDX-License-Identifier: Apache-2.0
// How values are put into messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace command {

/// Any bytes as one printable line: control characters and what is not UTF-8 become \xNN.
std::string printable(std::string_view bytes);

/// The text in single quotes, cut to a length that fits a message.
std::string in_quotes(std::string_view text);

/// As Python writes it: (), (6,), (2, 3).
std::string shape_text(const std::vector<std::int64_t> &shape);

/// "24 bytes", "1.50 MiB".
std::string bytes_text(std::uint64_t bytes);

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

/// The length of the UTF-8 character that `bytes` begin with; 0 if they begin with none.
std::size_t utf8_length(std::string_view bytes);

} // namespace command
