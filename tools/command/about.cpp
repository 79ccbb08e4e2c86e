// SPDX-License-Identifier: Apache-2.0
#include "about.hpp"

#include "failure.hpp"
#include "text.hpp"

#include <rownorm/rownorm.h>

#include <cstdlib>

namespace command {

std::string version_number() {
    const std::uint32_t v = rownorm_version();
    return fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
}

std::string compiler() {
#if defined(__clang__)
    return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::vector<std::string> built_isas() {
    std::vector<std::string> names;
    for (std::size_t i = 0; const char *name = rownorm_isa_built_name(i); ++i)
        names.emplace_back(name);
    return names;
}

const char *chosen_isa() {
    const char *const chosen = rownorm_isa();
    if (chosen == nullptr) {
        const char *const cap = std::getenv("ROWNORM_MAX_ISA");
        fail("ROWNORM_MAX_ISA is {}; expected one of the ISA names", in_quotes(cap != nullptr ? cap : ""));
    }
    return chosen;
}

} // namespace command
