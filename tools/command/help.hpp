// SPDX-License-Identifier: Apache-2.0
// How help looks: usage as one types it, descriptions in lines that fit a terminal, examples at the end.
#pragma once

#include <CLI/CLI.hpp>

#include <map>
#include <string>

namespace command {

class help_formatter : public CLI::Formatter {
public:
    /// `usage` says for a subcommand's name what follows it.
    explicit help_formatter(std::map<std::string, std::string> usage);

    std::string make_usage(const CLI::App *app, std::string name) const override;
    std::string make_positionals(const CLI::App *app) const override;
    std::string make_option_desc(const CLI::Option *option) const override;
    std::string make_option_opts(const CLI::Option *option) const override;

private:
    std::map<std::string, std::string> usage_;
};

} // namespace command
