// SPDX-License-Identifier: Apache-2.0
//
// What ROWNORM_MACHINE makes of a machine.
#include "machine.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>

using rownorm::Machine;
using rownorm::with_settings;

namespace {

constexpr Machine before{1 << 10, 2 << 10, 3 << 10, false};

void check(const char *settings, const Machine &expected) {
    CAPTURE(settings);
    const Machine became = with_settings(before, settings);
    CHECK(became.l1 == expected.l1);
    CHECK(became.l2 == expected.l2);
    CHECK(became.l3 == expected.l3);
    CHECK(became.takes_turns == expected.takes_turns);
}

} // namespace

TEST_CASE("settings replace what they name") {
    check("", before);
    check("l1=48K", {48 << 10, 2 << 10, 3 << 10, false});
    check("l2=1M,turns=1", {1 << 10, 1 << 20, 3 << 10, true});
    check("turns=1,l3=480M,l1=32K,l2=2048K", {32 << 10, 2 << 20, 480 << 20, true});
    check("l2=1M, l3=2M, turns=1", {1 << 10, 1 << 20, 2 << 20, true});
    check("l3=2097152K", {1 << 10, 2 << 10, std::int64_t{2} << 30, false});
    CHECK(!with_settings({1, 1, 1, true}, "turns=0").takes_turns);
    CHECK(with_settings({1, 1, 1, true}, "l1=1K").takes_turns);
}

TEST_CASE("what is not understood is left") {
    for (const char *settings :
         {"l1=48", "l1=0K", "l1=-1K", "l1=48G", "l1=48Kx", "l1=48K ",  "l4=1K",    "ll=1K",  "l=1K",    "L1=48K",
          "l1=K",  ",,,",   "=",      "turns=", "turns=2", "turns=12", "turns=0x", "turn=1", "l2 = 1M", "1=1K"}) {
        check(settings, before);
        CAPTURE(settings);
        CHECK(with_settings({1, 1, 1, true}, settings).takes_turns);
    }
    check("nonsense,l2=1M,,more", {1 << 10, 1 << 20, 3 << 10, false});
}
