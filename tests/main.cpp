// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdlib>

/// The same ways through the library on every machine, unless ROWNORM_TEST_MACHINE names another one. Before the
/// library is called by a constructor of the suite.
[[gnu::constructor(101)]] static void choose_machine() {
    const char *const other = std::getenv("ROWNORM_TEST_MACHINE");
    setenv("ROWNORM_MACHINE", other != nullptr ? other : "l1=32K,l2=256K,l3=8M,turns=1", 1);
}
