// SPDX-License-Identifier: Apache-2.0
// Python literals, as far as an .npy header can hold them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace command {

/// A value of a Python literal. A dict's items are key, value, key, value, ...
struct literal {
    enum class kind { none, boolean, integer, text, tuple, list, dict };

    kind what = kind::none;
    bool truth = false;          ///< boolean
    bool negative = false;       ///< integer
    bool too_large = false;      ///< integer: the magnitude does not fit
    std::uint64_t magnitude = 0; ///< integer
    std::string text;            ///< text; integer: as written
    std::vector<literal> items;  ///< tuple, list, dict
};

/// Reads one literal and nothing after it but blanks and comments, by Python's rules for None, True,
/// False, integers (also 2L of Python 2), strings, tuples, lists and dicts. Throws format_error, also
/// for the rest of the language and for more than 32 nested brackets. Uses no recursion.
literal parse_literal(std::string_view source);

} // namespace command
