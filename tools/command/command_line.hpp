// SPDX-License-Identifier: Apache-2.0
// Helpers around CLI11: choices, numbers, and errors of one line that suggest what may be meant.
#pragma once

#include "failure.hpp"
#include "text.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace command {

/// The whole text as a number, whatever the locale.
template <class T>
T parse_number(const std::string &option, const std::string &text, const char *expected) {
    T value{};
    const char *const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || at != end || text.empty())
        fail_usage("{}: {} found; expected {}", option, in_quotes(text), expected);
    return value;
}

/// An option whose value is a finite number that `allowed` accepts.
template <class Allowed>
CLI::Option *add_real(CLI::App &app, const std::string &name, double &into, const std::string &help,
                      const char *expected, Allowed allowed) {
    return app.add_option_function<std::string>(
        name,
        [&into, name, expected, allowed](const std::string &text) {
            into = parse_number<double>(name, text, expected);
            if (!std::isfinite(into) || !allowed(into))
                fail_usage("{}: {} found; expected {}", name, in_quotes(text), expected);
        },
        help);
}

template <class T>
CLI::Option *add_count(CLI::App &app, const std::string &name, T &into, T least, const std::string &help,
                       const char *expected) {
    return app.add_option_function<std::string>(
        name,
        [&into, name, expected, least](const std::string &text) {
            into = parse_number<T>(name, text, expected);
            if (into < least)
                fail_usage("{}: {} found; expected {}", name, in_quotes(text), expected);
        },
        help);
}

template <class T, class U>
CLI::Option *add_choice(CLI::App &app, const std::string &name, T &into,
                        const std::vector<std::pair<std::string, U>> &choices, const std::string &help) {
    std::vector<std::string> names;
    for (const auto &choice : choices)
        names.push_back(choice.first);
    return app
        .add_option_function<std::string>(
            name,
            [&into, name, choices, names](const std::string &text) {
                for (const auto &choice : choices)
                    if (choice.first == text) {
                        into = choice.second;
                        return;
                    }
                fail_usage("{}: {} found; expected {}", name, in_quotes(text), fmt::join(names, ", "));
            },
            help)
        ->type_name(fmt::format("{}", fmt::join(names, "|")));
}

/// "; is --weight meant?", or nothing if none of the names is near.
std::string suggestion(std::string_view word, const std::vector<std::string> &names);

/// Fails if `app` was given an argument that it does not know; names the nearest option.
void refuse_unknown(const CLI::App &app);

} // namespace command
