// SPDX-License-Identifier: Apache-2.0
// How the command ends other than well: one line on stderr and an exit code.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace command {

enum exit_code : int { exit_done = 0, exit_failed = 1, exit_usage = 2 };

/// Ends the command; what() is the line that is printed after "rownorm: ".
class failure : public std::runtime_error {
public:
    failure(exit_code code, const std::string &line) : std::runtime_error(line), code_(code) {}
    exit_code code() const { return code_; }

private:
    exit_code code_;
};

/// What is wrong with the contents of a file, by a reader that does not know the file's name.
class format_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> text, T &&...values) {
    throw failure(exit_failed, fmt::format(text, std::forward<T>(values)...));
}

template <class... T>
[[noreturn]] void fail_usage(fmt::format_string<T...> text, T &&...values) {
    throw failure(exit_usage, fmt::format(text, std::forward<T>(values)...));
}

template <class... T>
[[noreturn]] void fail_format(fmt::format_string<T...> text, T &&...values) {
    throw format_error(fmt::format(text, std::forward<T>(values)...));
}

} // namespace command
