// SPDX-License-Identifier: Apache-2.0
#include "literal_token.hpp"

#include "failure.hpp"
#include "text.hpp"

#include <algorithm>
#include <cctype>

namespace command {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }

/// The value of a digit in any base up to 16; 99 for anything else.
unsigned digit_value(char c) {
    if (is_digit(c))
        return unsigned(c - '0');
    const char lower = char(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? unsigned(lower - 'a') + 10 : 99;
}

void append_utf8(std::string &out, std::uint32_t point) {
    if (point < 0x80) {
        out += char(point);
        return;
    }
    const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    out += char((0xff00u >> (more + 1) & 0xffu) | point >> (6 * more));
    for (int i = more - 1; i >= 0; --i)
        out += char(0x80u | (point >> (6 * i) & 0x3fu));
}

} // namespace

void token_reader::fail_here(std::string_view what) const {
    fail_format("the header is not a Python dict: {} at its byte {}{}", what, at_,
                at_end() ? ", the end" : ": " + in_quotes(source_.substr(at_, 16)));
}

void token_reader::skip_blanks() {
    for (;; advance()) {
        const char c = peek();
        if (c == '#') {
            at_ = std::min({source_.find('\n', at_), source_.find('\r', at_), source_.size()});
        } else if (c == '\\' && (peek(1) == '\n' || peek(1) == '\r')) {
            advance();
        }
        if (at_end() || !(peek() == ' ' || peek() == '\t' || peek() == '\f' || peek() == '\n' || peek() == '\r'))
            return;
    }
}

void token_reader::expect(char c, std::string_view where) {
    if (at_end() || peek() != c)
        fail_here(fmt::format("'{}' expected {}", c, where));
    advance();
}

literal token_reader::scalar() {
    if (at_end())
        fail_here("it ends too early");
    if (at_string())
        return strings();
    if (is_digit(peek()) || peek() == '+' || peek() == '-')
        return integer();
    if (is_name(peek()))
        return name();
    fail_here("no value");
}

literal token_reader::name() {
    std::size_t length = 0;
    while (is_name(peek(length)))
        ++length;
    const std::string_view word = source_.substr(at_, length);
    literal value;
    if (word == "True" || word == "False") {
        value.what = literal::kind::boolean;
        value.truth = word == "True";
    } else if (word != "None") {
        fail_here("an unknown word");
    }
    advance(length);
    return value;
}

literal token_reader::integer() {
    literal value;
    value.what = literal::kind::integer;
    const std::size_t begin = at_;
    for (; peek() == '+' || peek() == '-'; skip_blanks()) {
        value.negative ^= peek() == '-';
        advance();
    }
    const bool leading_zero = peek() == '0' && is_digit(peek(1));
    const unsigned base = base_prefix();
    digits(value, base);
    if (leading_zero && (value.magnitude != 0 || value.too_large))
        fail_here("an integer with a leading zero");
    if (peek() == 'L') // Python 2 marked its long integers
        advance();
    if (is_name(peek()) || peek() == '.')
        fail_here("an integer expected, something else");
    value.negative = value.negative && (value.magnitude != 0 || value.too_large);
    value.text = source_.substr(begin, at_ - begin);
    return value;
}

unsigned token_reader::base_prefix() {
    const char mark = char(peek(1) | 0x20);
    const unsigned base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    if (peek() != '0' || base == 10)
        return 10;
    advance(2);
    if (peek() == '_') // 0x_10 is Python
        advance();
    return base;
}

void token_reader::digits(literal &value, unsigned base) {
    if (digit_value(peek()) >= base)
        fail_here("an integer expected, something else");
    for (; digit_value(peek()) < base; advance()) {
        const bool overflow = __builtin_mul_overflow(value.magnitude, std::uint64_t(base), &value.magnitude) ||
                              __builtin_add_overflow(value.magnitude, digit_value(peek()), &value.magnitude);
        value.too_large = value.too_large || overflow;
        if (peek(1) == '_' && digit_value(peek(2)) < base)
            advance();
    }
}

bool token_reader::at_string() const {
    std::size_t prefix = 0;
    // u'..' of Python 2, r'..' without escapes. Bytes and f-strings are no names.
    if (const char c = char(peek() | 0x20); c == 'u' || c == 'r')
        prefix = 1;
    return peek(prefix) == '\'' || peek(prefix) == '"';
}

literal token_reader::strings() {
    literal value;
    value.what = literal::kind::text;
    do {
        one_string(value.text);
        skip_blanks();
    } while (at_string());
    return value;
}

void token_reader::one_string(std::string &out) {
    const bool raw = (peek() | 0x20) == 'r';
    if (peek() != '\'' && peek() != '"')
        advance();
    const char quote = peek();
    const std::size_t width = peek(1) == quote && peek(2) == quote ? 3 : 1;
    for (advance(width);; advance()) {
        if (peek() == quote && (width == 1 || (peek(1) == quote && peek(2) == quote)))
            break;
        if (at_end() || (width == 1 && (peek() == '\n' || peek() == '\r')))
            fail_here("a string without its end");
        if (peek() != '\\') {
            out += peek();
        } else if (raw) { // the backslash stays, and so does what it stands before
            out += peek();
            advance();
            if (!at_end())
                out += peek();
        } else {
            advance();
            escape(out);
        }
    }
    advance(width);
}

/// The character after a backslash; leaves the position on the escape's last character.
void token_reader::escape(std::string &out) {
    const char c = peek();
    constexpr std::string_view letters = "abfnrtv", values = "\a\b\f\n\r\t\v";
    if (const std::size_t i = letters.find(c); i != std::string_view::npos && c != '\0')
        out += values[i];
    else if (c == '\\' || c == '\'' || c == '"')
        out += c;
    else if (c == '\n')
        return; // a continued line
    else if (c == 'x' || c == 'u' || c == 'U') {
        const std::size_t length = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        advance();
        append_utf8(out, code(length, length, 16));
    } else if (c >= '0' && c <= '7')
        append_utf8(out, code(3, 1, 8));
    else if (c == 'N' || at_end())
        fail_here("an escape that headers do not hold");
    else { // Python keeps an unknown escape as it is
        out += '\\';
        out += c;
    }
}

std::uint32_t token_reader::code(std::size_t most, std::size_t least, unsigned base) {
    std::uint32_t point = 0;
    std::size_t count = 0;
    for (; count < most && digit_value(peek(count)) < base; ++count)
        point = point * base + digit_value(peek(count));
    if (count < least || point > 0x10ffff)
        fail_here("an escape that is no character");
    advance(count - 1);
    return point;
}

} // namespace command
