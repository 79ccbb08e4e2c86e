// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace command {

/// Runs a program, found on PATH, with `input` on its standard input; gives what it printed. `input` must fit
/// a pipe (64 KiB). Throws failure if it cannot be run or does not exit with 0.
std::string run_filter(const std::vector<std::string> &arguments, const std::string &input);

} // namespace command
