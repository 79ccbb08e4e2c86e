// SPDX-License-Identifier: Apache-2.0
// `rownorm info`: what was asked for, and saying it.
#pragma once

#include <rownorm/rownorm.h>

#include <optional>
#include <string>

namespace command {

struct info_options {
    std::string input;
    std::optional<std::string> axis;
    std::optional<rownorm_type> type;
    bool json = false;
    bool plot = false;
    std::optional<std::string> plot_out;
    bool force = false;
};

void info(const info_options &options);

} // namespace command
