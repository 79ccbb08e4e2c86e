// SPDX-License-Identifier: Apache-2.0
//
// For tests that break a rule of the ABI.
#pragma once

#include <rownorm/rownorm.h>

#include <initializer_list>
#include <string>

namespace rownorm_test {

/// Empty if rownorm_last_error() holds all of these words, else what it lacks and what it says.
inline std::string message_lacks(std::initializer_list<std::string> words) {
    const std::string message = rownorm_last_error();
    for (const std::string &word : words)
        if (message.find(word) == std::string::npos)
            return std::string("no \"").append(word).append("\" in \"").append(message).append("\"");
    return {};
}

} // namespace rownorm_test
