// SPDX-License-Identifier: Apache-2.0
// The rownorm command.
#include "about.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "help.hpp"
#include "report.hpp"
#include "signals.hpp"

#include <rownorm/rownorm.h>

#include <algorithm>
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

std::string version() {
    const char *const chosen = rownorm_isa();
    return fmt::format("rownorm {}\nISAs: {} (here: {})\ncompiled by {}", version_number(),
                       fmt::join(built_isas(), ", "), chosen != nullptr ? chosen : "none, ROWNORM_MAX_ISA is unknown",
                       compiler());
}

/// A first word that is no command: CLI11 would only say that one is missing.
void require_command(const CLI::App &program, int argc, char **argv) {
    std::vector<std::string> names;
    for (const CLI::App *app : program.get_subcommands({}))
        names.push_back(app->get_name());
    const std::string known = fmt::format("{}", fmt::join(names, ", "));
    if (argc < 2)
        fail_usage("no command found; expected one of {} (see rownorm --help)", known);
    const std::string word = argv[1];
    if (program.get_option_no_throw(word) != nullptr || std::find(names.begin(), names.end(), word) != names.end())
        return;
    names.insert(names.end(), {"--help", "--version"});
    fail_usage("no command {}; expected one of {}{} (see rownorm --help)", in_quotes(word), known,
               suggestion(word, names));
}

int run(int argc, char **argv) {
    CLI::App program("Normalises rows of arrays: RMSNorm, LayerNorm and L2Norm on CPUs.", "rownorm");
    program.formatter(std::make_shared<help_formatter>(std::map<std::string, std::string>{
        {"rownorm", "COMMAND ..."},
        {"normalize", "IN -o OUT [OPTIONS]"},
        {"info", "F [OPTIONS]"},
        {"diff", "A B [OPTIONS]"},
        {"bench", "[OPTIONS]"},
    }));
    program.footer("Try rownorm normalize --help for examples.");
    outcome result;
    program.set_version_flag("-V,--version", version(), "Print version, instruction sets and compiler");
    program.set_help_flag("-h,--help", "Print this help");
    program.require_subcommand(1);
    add_normalize(program);
    add_info(program);
    add_diff(program, result);
    add_isa(program);
    add_bench(program);
    try {
        require_command(program, argc, argv);
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
