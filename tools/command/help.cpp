// SPDX-License-Identifier: Apache-2.0
#include "help.hpp"

#include <fmt/format.h>

#include <sstream>

namespace command {

namespace {

constexpr std::size_t options_width = 34;
constexpr std::size_t terminal_width = 100;

std::string wrapped(const std::string &text, std::size_t width) {
    std::istringstream words(text);
    std::string out, word;
    std::size_t column = 0;
    while (words >> word) {
        const bool first = out.empty();
        if (!first && column + 1 + word.size() > width) {
            out += '\n';
            column = 0;
        } else if (!first) {
            out += ' ';
            ++column;
        }
        out += word;
        column += word.size();
    }
    return out;
}

} // namespace

help_formatter::help_formatter(std::map<std::string, std::string> usage) : usage_(std::move(usage)) {
    column_width(options_width);
}

std::string help_formatter::make_usage(const CLI::App *app, std::string name) const {
    const auto found = usage_.find(app->get_name());
    return fmt::format("Usage: {}{}\n", name, found == usage_.end() ? "" : " " + found->second);
}

/// The description of a subcommand says what its files are.
std::string help_formatter::make_positionals(const CLI::App *) const { return ""; }

std::string help_formatter::make_option_desc(const CLI::Option *option) const {
    return wrapped(option->get_description(), terminal_width - options_width);
}

std::string help_formatter::make_option_opts(const CLI::Option *option) const {
    return option->get_type_name().empty() ? "" : " " + option->get_type_name();
}

} // namespace command
