// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include "descriptor.hpp"

#include <cstring>

#include <unistd.h>

namespace command {

void say_error(const std::string &text) {
    // One write, so that lines of processes that share a terminal do not mix.
    print_error("rownorm: " + text + "\n");
}

void print_error(const std::string &text) { write_all(STDERR_FILENO, std::as_bytes(std::span(text))); }

void print(const std::string &text) {
    if (const moved done = write_all(STDOUT_FILENO, std::as_bytes(std::span(text))); done.error != 0)
        fail("standard output: cannot be written: {}", std::strerror(done.error));
}

} // namespace command
