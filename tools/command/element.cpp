// SPDX-License-Identifier: Apache-2.0
#include "element.hpp"

#include "failure.hpp"
#include "text.hpp"

#include <array>

namespace command {

namespace {

struct type_row {
    rownorm_type type;
    const char *name;
    std::size_t bytes;
    const char *code; ///< the .npy type code, empty if there is none
};

constexpr std::array<type_row, 4> types{{
    {ROWNORM_F32, "f32", 4, "f4"},
    {ROWNORM_F16, "f16", 2, "f2"},
    {ROWNORM_BF16, "bf16", 2, ""},
    {ROWNORM_F64, "f64", 8, "f8"},
}};

const type_row &row_of(rownorm_type type) {
    for (const type_row &row : types)
        if (row.type == type)
            return row;
    throw std::logic_error("a type outside the table");
}

/// The bytes of an element without a type of its own; 0 if `code` is none.
std::size_t opaque_bytes(std::string_view descr, std::string_view code) {
    if (code == "V2" || code == "g2" || descr == "bfloat16")
        return 2;
    return code == "V4" ? 4 : code == "V8" ? 8 : 0;
}

element opaque_element(const std::string &descr, std::size_t bytes, std::optional<rownorm_type> named) {
    if (!named)
        fail_format("type {} ({} opaque bytes) found; expected f2, f4 or f8, or --type to say what the bytes are{}",
                    in_quotes(descr), bytes, bytes == 2 ? " (bf16, f16)" : "");
    if (type_bytes(*named) != bytes)
        fail_format("type {} ({} opaque bytes) found; --type {} says {} bytes", in_quotes(descr), bytes,
                    type_name(*named), type_bytes(*named));
    element e = element_for(*named);
    e.opaque = true;
    if (*named == ROWNORM_BF16 && descr == "|V2")
        e.descr = descr;
    return e;
}

[[noreturn]] void refuse(const std::string &descr, std::string_view code) {
    if (code.starts_with('O') || descr == "object")
        fail_format("type {} found: an object array is a pickle, which is not read; expected f2, f4 or f8",
                    in_quotes(descr));
    if (code == "V1" || code == "f1")
        fail_format("type {} found, an 8-bit float or a byte; expected f2, f4, f8, or V2 with --type bf16",
                    in_quotes(descr));
    fail_format("type {} found; expected f2, f4 or f8, or V2 with --type bf16", in_quotes(descr));
}

} // namespace

std::size_t type_bytes(rownorm_type type) { return row_of(type).bytes; }

const char *type_name(rownorm_type type) { return row_of(type).name; }

std::vector<std::pair<std::string, rownorm_type>> type_choices() {
    std::vector<std::pair<std::string, rownorm_type>> choices;
    for (const type_row &row : types)
        choices.emplace_back(row.name, row.type);
    return choices;
}

element element_for(rownorm_type type) {
    const type_row &row = row_of(type);
    return {type, false, false, *row.code == '\0' ? "<V2" : fmt::format("<{}", row.code)};
}

element element_from_descr(const std::string &descr, std::optional<rownorm_type> named) {
    // '=', '|' and no mark mean this machine's order to numpy, which on all its platforms of today is little.
    std::string_view code = descr;
    const char mark = code.empty() ? '\0' : code[0];
    if (mark == '<' || mark == '>' || mark == '=' || mark == '|')
        code.remove_prefix(1);
    for (const type_row &row : types) {
        if (code != row.code || *row.code == '\0')
            continue;
        return {row.type, mark == '>', false, fmt::format("{}{}", mark == '>' ? '>' : '<', code)};
    }
    if (const std::size_t bytes = opaque_bytes(descr, code); bytes != 0)
        return opaque_element(descr, bytes, named);
    refuse(descr, code);
}

} // namespace command
