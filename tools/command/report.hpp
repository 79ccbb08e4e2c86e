// SPDX-License-Identifier: Apache-2.0
// What the command says: warnings and errors on stderr, results on stdout.
#pragma once

#include "failure.hpp"

namespace command {

/// Prints "rownorm: text" on stderr.
void say_error(const std::string &text);

template <class... T>
void warn(fmt::format_string<T...> text, T &&...values) {
    say_error("warning: " + fmt::format(text, std::forward<T>(values)...));
}

/// Prints to stderr as it is.
void print_error(const std::string &text);

/// Prints to stdout and makes sure that it arrived. Throws failure.
void print(const std::string &text);

} // namespace command
