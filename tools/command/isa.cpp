// SPDX-License-Identifier: Apache-2.0
#include "isa.hpp"

#include "about.hpp"
#include "report.hpp"

#include <fmt/format.h>
#include <rownorm/rownorm.h>

#include <cstring>
#include <string>

namespace command {

void list_isas() {
    const char *const chosen = chosen_isa();
    std::string text;
    bool above = true; // of the chosen one: what can run there was capped
    for (std::size_t i = 0; const char *name = rownorm_isa_built_name(i); ++i) {
        const char *const obstacle = rownorm_isa_obstacle(name);
        const bool is_chosen = std::strcmp(name, chosen) == 0;
        above = above && !is_chosen;
        const std::string state = obstacle != nullptr ? fmt::format("cannot run: {}", obstacle)
                                  : is_chosen         ? "runs (the default)"
                                  : above             ? "can run, but ROWNORM_MAX_ISA is lower"
                                                      : "can run";
        text += fmt::format("{:<8} {}\n", name, state);
    }
    print(text);
}

} // namespace command
