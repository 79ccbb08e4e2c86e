// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace command;

TEST_CASE("printable keeps UTF-8 and shows every other byte") {
    CHECK(printable("plain name.npy") == "plain name.npy");
    CHECK(printable("h\u00e9 \u6e2c \U0001f600") == "h\u00e9 \u6e2c \U0001f600");
    CHECK(printable("a\nb\tc\x1b[0m\x7f") == "a\\nb\\x09c\\x1b[0m\\x7f");
    CHECK(printable("\xff\xfe.npy") == "\\xff\\xfe.npy");
    CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");          // a C1 control
    CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");          // overlong
    CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80"); // a surrogate
    CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
    CHECK(printable("\xe6\xb8") == "\\xe6\\xb8"); // cut
    CHECK(printable("") == "");
}

TEST_CASE("in_quotes cuts long texts") {
    CHECK(in_quotes("<f4") == "'<f4'");
    CHECK(in_quotes(std::string(60, 'a')) == "'" + std::string(60, 'a') + "'");
    CHECK(in_quotes(std::string(61, 'a')) == "'" + std::string(60, 'a') + "...'");
}

TEST_CASE("shapes, sizes and counts") {
    CHECK(shape_text({}) == "()");
    CHECK(shape_text({6}) == "(6,)");
    CHECK(shape_text({2, 3}) == "(2, 3)");
    CHECK(bytes_text(1) == "1 byte");
    CHECK(bytes_text(10239) == "10239 bytes");
    CHECK(bytes_text(10240) == "10.00 KiB");
    CHECK(bytes_text(std::uint64_t(3) << 30) == "3.00 GiB");
    CHECK(bytes_text(std::numeric_limits<std::uint64_t>::max()) == "16.00 EiB");
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1000) == "1,000");
    CHECK(grouped(1000000) == "1,000,000");
    CHECK(grouped(1234567) == "1,234,567");
    CHECK(grouped(std::numeric_limits<std::uint64_t>::max()) == "18,446,744,073,709,551,615");
}
