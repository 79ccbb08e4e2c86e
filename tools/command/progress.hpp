// SPDX-License-Identifier: Apache-2.0
// A line on the terminal that says how far a long job has come.
#pragma once

#include <chrono>
#include <cstdint>

namespace command {

/// Shows nothing unless stderr is a terminal and the job takes more than a second.
class progress {
public:
    progress(std::uint64_t total_bytes, bool wanted);
    progress(const progress &) = delete;
    progress &operator=(const progress &) = delete;
    ~progress() { clear(); }

    void advance(std::uint64_t bytes);
    /// Takes the line away, before something else is printed.
    void clear();

private:
    using clock = std::chrono::steady_clock;

    void show(clock::time_point now);

    const std::uint64_t total_bytes_;
    const bool wanted_;
    const clock::time_point begin_;
    clock::time_point shown_;
    std::uint64_t done_bytes_ = 0;
    bool visible_ = false;
};

} // namespace command
