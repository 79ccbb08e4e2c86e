// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include "descriptor.hpp"
#include "signals.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include <unistd.h>

namespace command {

namespace {

constexpr std::chrono::milliseconds first_after{1000}, again_after{100};

void to_terminal(const std::string &text) { write_all(STDERR_FILENO, std::as_bytes(std::span(text))); }

std::string time_text(double seconds) {
    const long long s = std::llround(seconds);
    if (s < 60)
        return fmt::format("{} s", s);
    if (s < 3600)
        return fmt::format("{}:{:02} min", s / 60, s % 60);
    return fmt::format("{}:{:02} h", s / 3600, s / 60 % 60);
}

} // namespace

progress::progress(std::uint64_t total_bytes, bool wanted)
    : total_bytes_(total_bytes), wanted_(wanted && ::isatty(STDERR_FILENO) == 1), begin_(clock::now()),
      shown_(begin_ + first_after - again_after) {}

void progress::advance(std::uint64_t bytes) {
    done_bytes_ += bytes;
    if (!wanted_)
        return;
    if (const clock::time_point now = clock::now(); now - shown_ >= again_after)
        show(now);
}

void progress::show(clock::time_point now) {
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const double rate = double(done_bytes_) / seconds;
    const double left = double(total_bytes_ - done_bytes_) / rate;
    const std::string text = fmt::format("\r{} of {} ({:.0f} %), {}/s, {} left\x1b[K", bytes_text(done_bytes_),
                                         bytes_text(total_bytes_), 100.0 * double(done_bytes_) / double(total_bytes_),
                                         bytes_text(std::uint64_t(rate)), time_text(left));
    shown_ = now;
    terminal_line line;
    if (!line.is_free())
        return;
    to_terminal(text);
    visible_ = true;
    line.is_unfinished(true);
}

void progress::clear() {
    if (!visible_)
        return;
    visible_ = false;
    terminal_line line;
    if (!line.is_free())
        return;
    to_terminal("\r\x1b[K");
    line.is_unfinished(false);
}

} // namespace command
