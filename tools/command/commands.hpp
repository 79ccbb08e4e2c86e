// SPDX-License-Identifier: Apache-2.0
// The subcommands. Each adds itself to the program; its callback does the work and throws failure.
#pragma once

#include <CLI/CLI.hpp>

namespace command {

/// What a subcommand's callback returns through.
struct outcome {
    int exit_code = 0;
};

void add_normalize(CLI::App &program);
void add_info(CLI::App &program);
void add_isa(CLI::App &program);
void add_bench(CLI::App &program);
void add_diff(CLI::App &program, outcome &result);

} // namespace command
