// SPDX-License-Identifier: Apache-2.0
// The rownorm command.
#include "command_line.hpp"
#include "commands.hpp"
#include "report.hpp"
#include "signals.hpp"

#include <rownorm/rownorm.h>

#include <new>

namespace {

using namespace command;

/// CLI11's own errors: help and version are none, the others become one line.
int after_parsing(const CLI::App &program, const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
        return program.exit(error);
    say_error(printable(error.what()));
    return exit_usage;
}

int run(int argc, char **argv) {
    CLI::App program("RMSNorm, LayerNorm and L2Norm over the rows of .npy files", "rownorm");
    outcome result;
    program.set_version_flag("--version", "rownorm " + std::to_string(ROWNORM_VERSION_MAJOR) + "." +
                                              std::to_string(ROWNORM_VERSION_MINOR) + "." +
                                              std::to_string(ROWNORM_VERSION_PATCH));
    program.require_subcommand(1);
    add_normalize(program);
    add_diff(program, result);
    add_isa(program);
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return after_parsing(program, error);
    }
    return result.exit_code;
}

} // namespace

int main(int argc, char **argv) {
    command::prepare_process();
    try {
        return run(argc, argv);
    } catch (const command::failure &error) {
        command::say_error(error.what());
        return error.code();
    } catch (const std::bad_alloc &) {
        command::say_error("out of memory");
    } catch (const std::exception &error) {
        command::say_error(error.what());
    }
    return command::exit_failed;
}
