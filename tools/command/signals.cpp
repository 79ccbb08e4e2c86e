// SPDX-License-Identifier: Apache-2.0
#include "signals.hpp"

#include "failure.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
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
std::atomic<bool> unfinished_line{false}, line_taken{false}, is_ending{false};
constexpr std::array ending{SIGINT, SIGTERM, SIGHUP};
static_assert(std::atomic<bool>::is_always_lock_free);

/// What a handler says, written at once, so that nothing comes between its words.
class message {
public:
    void add(const char *text) {
        const std::size_t bytes = std::min(std::strlen(text), text_.size() - bytes_);
        std::memcpy(text_.data() + bytes_, text, bytes);
        bytes_ += bytes;
    }
    void write() const {
        if (::write(STDERR_FILENO, text_.data(), bytes_) < 0)
            return; // nothing can be done about it here
    }

private:
    std::array<char, 2 * most_path_bytes> text_;
    std::size_t bytes_ = 0;
};

/// Another thread may be writing its line; it does not begin another one. A terminal that takes nothing is not waited
/// for.
void wait_for_line() {
    is_ending = true;
    for (int milliseconds = 0; line_taken.load() && milliseconds < 100; ++milliseconds)
        ::poll(nullptr, 0, 1);
}

const char *signal_text(int signal) {
    return signal == SIGINT ? "interrupted" : signal == SIGTERM ? "terminated (SIGTERM)" : "hung up (SIGHUP)";
}

void on_signal(int signal) {
    wait_for_line();
    message m;
    m.add(unfinished_line.load() ? "\nrownorm: " : "rownorm: ");
    m.add(signal_text(signal));
    for (slot &s : slots) {
        if (!s.armed.load())
            continue;
        ::unlink(s.path.data());
        m.add("; ");
        m.add(s.name.data());
        m.add(" was left as it was");
    }
    m.add("\n");
    m.write();
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

signals_held::signals_held() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : ending)
        sigaddset(&set, signal);
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
}

signals_held::~signals_held() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

terminal_line::terminal_line() {
    line_taken = true; // before is_ending is read: else a handler might see neither
    is_free_ = !is_ending.load();
}

terminal_line::~terminal_line() { line_taken = false; }

void terminal_line::is_unfinished(bool unfinished) { unfinished_line = unfinished; }

} // namespace command
