// SPDX-License-Identifier: Apache-2.0
// What signals do: temporary files are removed, a closed pipe and a size limit become errors.
#pragma once

#include <string>

#include <csignal>

namespace command {

/// To be called first in main: installs the handlers and makes sure that descriptors 0 to 2 are taken,
/// so that no file of ours is opened as standard output.
void prepare_process();

/// Has `path` removed if SIGINT, SIGTERM or SIGHUP ends the command; gives a slot. `name` is for the message.
int remove_on_signal(const std::string &path, const std::string &name);
/// The file is gone or has its final name.
void keep_on_signal(int slot);

/// Holds back the signals that end the command, for as long as it lives.
class signals_held {
public:
    signals_held();
    ~signals_held();
    signals_held(const signals_held &) = delete;
    signals_held &operator=(const signals_held &) = delete;

private:
    sigset_t before_;
};

/// The terminal's last line, for as long as it lives: a message on a signal, which another thread may take, waits for
/// it.
class terminal_line {
public:
    terminal_line();
    ~terminal_line();
    terminal_line(const terminal_line &) = delete;
    terminal_line &operator=(const terminal_line &) = delete;

    /// Whether it may be written: not once such a message has begun.
    bool is_free() const { return is_free_; }
    /// Whether what stands there has no line end, so that a message begins on a line of its own.
    void is_unfinished(bool unfinished);

private:
    signals_held held_;
    bool is_free_;
};

} // namespace command
