// SPDX-License-Identifier: Apache-2.0
#include "literal.hpp"

#include "failure.hpp"

#include <doctest/doctest.h>

using namespace command;

namespace {

/// The value written back in one canonical form.
std::string show(const literal &v) {
    using kind = literal::kind;
    std::string out;
    switch (v.what) {
    case kind::none:
        return "None";
    case kind::boolean:
        return v.truth ? "True" : "False";
    case kind::integer:
        return v.too_large ? "large" : fmt::format("{}{}", v.negative ? "-" : "", v.magnitude);
    case kind::text:
        return fmt::format("<{}>", v.text);
    case kind::tuple:
    case kind::list:
        for (const literal &item : v.items)
            out += fmt::format("{}{}", out.empty() ? "" : ",", show(item));
        return v.what == kind::tuple ? fmt::format("({})", out) : fmt::format("[{}]", out);
    case kind::dict:
        for (std::size_t i = 0; i < v.items.size(); i += 2)
            out += fmt::format("{}{}:{}", out.empty() ? "" : ",", show(v.items[i]), show(v.items[i + 1]));
        return fmt::format("{{{}}}", out);
    }
    return "?";
}

std::string shown(std::string_view text) { return show(parse_literal(text)); }

} // namespace

TEST_CASE("literals that Python reads") {
    CHECK(shown(" None ") == "None");
    CHECK(shown("True#x") == "True");
    CHECK(shown("\n\t False \n # end") == "False");
    CHECK(shown("(1)") == "1");
    CHECK(shown("((1,))") == "(1)");
    CHECK(shown("()") == "()");
    CHECK(shown("( )") == "()");
    CHECK(shown("[1, [2, (3,)], {}]") == "[1,[2,(3)],{}]");
    CHECK(shown("{'a': 1, 'b': (2, 3),}") == "{<a>:1,<b>:(2,3)}");
    CHECK(shown("{1: {2: [3]}}") == "{1:{2:[3]}}");
    CHECK(shown("(1,\\\n2)") == "(1,2)");
}

TEST_CASE("integers") {
    CHECK(shown("0") == "0");
    CHECK(shown("00") == "0");
    CHECK(shown("-0") == "0");
    CHECK(shown("- 5") == "-5");
    CHECK(shown("--5") == "5");
    CHECK(shown("+7") == "7");
    CHECK(shown("12L") == "12");
    CHECK(shown("1_000") == "1000");
    CHECK(shown("0xFF") == "255");
    CHECK(shown("0X_f") == "15");
    CHECK(shown("0o17") == "15");
    CHECK(shown("0b101") == "5");
    CHECK(shown("18446744073709551615") == "18446744073709551615");
    CHECK(shown("18446744073709551616") == "large");
    CHECK(shown("-99999999999999999999999") == "large");
    for (const char *text : {"01", "1l", "1__0", "1_", "1.0", "1e3", "1j", "0x", "0b2", "1 2", "+", "5LL", "1a", ".5"})
        CHECK_THROWS_AS(shown(text), format_error);
}

TEST_CASE("strings") {
    CHECK(shown("'a\"b'") == "<a\"b>");
    CHECK(shown("\"it's\"") == "<it's>");
    CHECK(shown("'''a'b\nc'''") == "<a'b\nc>");
    CHECK(shown("'' 'a' \"b\"") == "<ab>");
    CHECK(shown("u'x' U\"y\"") == "<xy>");
    CHECK(shown(R"(r'\n\'')") == R"(<\n\'>)");
    CHECK(shown(R"('\\\'\"\n\t\a\q')") == "<\\'\"\n\t\a\\q>");
    CHECK(shown(R"('\x3cf4\74\u003c\U0000003c\0608')") == "<<f4<<<08>");
    CHECK(shown("'a\\\nb'") == "<ab>");
    CHECK(shown(R"('\u6e2c\xe9')") == "<\u6e2c\u00e9>");
    for (const char *text : {"'", "'a", "\"a'", "'a\nb'", "'''a''", "b'a'", "f'a'", "ur'a'", R"('\x3')",
                             R"('\N{DIGIT ONE}')", R"('\U00110000')", "'a\\", "r'\\"})
        CHECK_THROWS_AS(shown(text), format_error);
}

TEST_CASE("what is no literal, or more than one") {
    for (const char *text : {"",     " ",     "#",   ",",       ")",     "(",        "[1",  "{1}",  "{1:}",    "{:1}",
                             "{1:2", "{1 2}", "{,}", "(,)",     "(1,,)", "[1 2]",    "(1]", "1,",   "1 1",     "{} {}",
                             "nope", "Nonee", "a.b", "print()", "1+2",   "not True", "\\",  "()()", "{1:2,,}", "{1,2}"})
        CHECK_THROWS_AS(shown(text), format_error);
    CHECK_THROWS_AS(shown(std::string_view("1\0", 2)), format_error);
}

TEST_CASE("32 nested brackets and no more") {
    CHECK_NOTHROW(parse_literal(std::string(32, '[') + std::string(32, ']')));
    CHECK_THROWS_AS(parse_literal(std::string(33, '[') + std::string(33, ']')), format_error);
    CHECK_THROWS_AS(parse_literal(std::string(1000000, '(')), format_error);
}

TEST_CASE("a literal cut anywhere is an error") {
    const std::string text = "{'descr': '<f4', \"fortran_order\": False, 'shape': (2L, 0x3), 'x': [None, ()]}";
    CHECK_NOTHROW(parse_literal(text));
    for (std::size_t length = 0; length < text.size(); ++length) {
        CAPTURE(length);
        CHECK_THROWS_AS(parse_literal(std::string_view(text).substr(0, length)), format_error);
    }
}
