// SPDX-License-Identifier: Apache-2.0
// The tokens of Python literals: blanks, comments, names, integers and strings.
#pragma once

#include "literal.hpp"

namespace command {

class token_reader {
public:
    explicit token_reader(std::string_view source) : source_(source) {}

    bool at_end() const { return at_ >= source_.size(); }
    /// The next character; NUL at the end (and a NUL inside fits no rule either).
    char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }
    void advance(std::size_t count = 1) { at_ += count; }

    /// Blanks, line ends, continued lines and comments.
    void skip_blanks();
    void expect(char c, std::string_view where);
    /// None, True, False, an integer, or strings side by side.
    literal scalar();
    [[noreturn]] void fail_here(std::string_view what) const;

private:
    literal name();
    literal integer();
    unsigned base_prefix();
    void digits(literal &value, unsigned base);
    literal strings();
    bool at_string() const;
    void one_string(std::string &out);
    void escape(std::string &out);
    std::uint32_t code(std::size_t most, std::size_t least, unsigned base);

    std::string_view source_;
    std::size_t at_ = 0;
};

} // namespace command
