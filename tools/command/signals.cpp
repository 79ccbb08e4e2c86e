// SPDX-License-Identifier: Apache-2.0
#include "signals.hpp"

#include "failure.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace command {

namespace {

constexpr std::size_t most_path_bytes = 4096;

/// Fixed memory, since a handler may run at any moment. `armed` is set last and cleared first.
struct slot {
    std::atomic<bool> taken{false};
    std::atomic<bool> armed{false};
    std::array<char, most_path_bytes> path{};
    std::array<char, most_path_bytes> name{};
};

std::array<slot, 4> slots;
std::atomic<bool> unfinished_line{false};
constexpr std::array ending{SIGINT, SIGTERM, SIGHUP};
static_assert(std::atomic<bool>::is_always_lock_free);

void say(const char *text) {
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0)
        return; // nothing can be done about it here
}

const char *signal_text(int signal) {
    return signal == SIGINT ? "interrupted" : signal == SIGTERM ? "terminated (SIGTERM)" : "hung up (SIGHUP)";
}

void on_signal(int signal) {
    say(unfinished_line.load() ? "\nrownorm: " : "rownorm: ");
    say(signal_text(signal));
    for (slot &s : slots) {
        if (!s.armed.load())
            continue;
        ::unlink(s.path.data());
        say("; ");
        say(s.name.data());
        say(" was left as it was");
    }
    say("\n");
    // The default action, so that a shell sees what ended us. SA_RESETHAND has restored it.
    ::raise(signal);
}

void take_descriptor(int fd, int flags) {
    // Opened the wrong way round on purpose: using it fails, as using a closed descriptor would.
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF && ::open("/dev/null", flags) < 0)
        ::_exit(exit_failed);
}

} // namespace

void prepare_process() {
    take_descriptor(STDIN_FILENO, O_WRONLY);
    take_descriptor(STDOUT_FILENO, O_RDONLY);
    take_descriptor(STDERR_FILENO, O_RDONLY);
    struct sigaction action {};
    sigemptyset(&action.sa_mask);
    action.sa_handler = SIG_IGN; // EPIPE and EFBIG then reach the caller as errors
    ::sigaction(SIGPIPE, &action, nullptr);
    ::sigaction(SIGXFSZ, &action, nullptr);
    action.sa_handler = on_signal;
    action.sa_flags = int(SA_RESETHAND);
    for (const int signal : ending) {
        struct sigaction old {};
        if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) // as nohup and sh's & set it
            ::sigaction(signal, &action, nullptr);
    }
}

int remove_on_signal(const std::string &path, const std::string &name) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
        slot &s = slots[i];
        if (path.size() >= most_path_bytes || s.taken.exchange(true))
            continue;
        std::strncpy(s.path.data(), path.c_str(), most_path_bytes - 1);
        std::strncpy(s.name.data(), name.c_str(), most_path_bytes - 1);
        s.armed = true;
        return int(i);
    }
    return -1;
}

void keep_on_signal(int index) {
    if (index < 0)
        return;
    slots[std::size_t(index)].armed = false;
    slots[std::size_t(index)].taken = false;
}

void line_is_unfinished(bool unfinished) { unfinished_line = unfinished; }

signals_held::signals_held() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : ending)
        sigaddset(&set, signal);
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
}

signals_held::~signals_held() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

} // namespace command
