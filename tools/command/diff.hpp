// SPDX-License-Identifier: Apache-2.0
// `rownorm diff`: what was asked for, and saying it.
#pragma once

#include <rownorm/rownorm.h>

#include <cstdint>
#include <optional>
#include <string>

namespace command {

struct diff_options {
    std::string a, b;
    std::optional<rownorm_type> type;
    std::uint64_t ulp = 0;
    bool json = false;
    bool quiet = false;
};

/// The exit code: done if the arrays are equal within what `options` allow, else failed.
int diff(const diff_options &options);

} // namespace command
