// SPDX-License-Identifier: Apache-2.0
#include "child.hpp"

#include "descriptor.hpp"
#include "failure.hpp"
#include "text.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace command {

namespace {

struct pipe_ends {
    descriptor read, write;
};

pipe_ends open_pipe() {
    std::array<int, 2> fds{};
    if (::pipe2(fds.data(), O_CLOEXEC) != 0)
        fail("no pipe: {}", std::strerror(errno));
    return {descriptor(fds[0]), descriptor(fds[1])};
}

pid_t spawn(const std::vector<std::string> &arguments, int in, int out, int err) {
    std::vector<char *> argv;
    for (const std::string &argument : arguments)
        argv.push_back(const_cast<char *>(argument.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        fail("{} cannot be run: {}", arguments[0], std::strerror(error));
    return child;
}

std::string read_to_end(int fd) {
    std::string text;
    std::array<char, 65536> part;
    for (;;) {
        const moved got = read_all(fd, std::as_writable_bytes(std::span(part)));
        text.append(part.data(), got.bytes);
        if (got.bytes < part.size())
            return text;
    }
}

/// The last line, where Python puts the reason.
std::string last_line(std::string text) {
    while (text.ends_with('\n'))
        text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

} // namespace

std::string run_filter(const std::vector<std::string> &arguments, const std::string &input) {
    pipe_ends to = open_pipe(), from = open_pipe();
    const descriptor errors(::memfd_create("errors", MFD_CLOEXEC));
    if (!errors)
        fail("no memory for messages: {}", std::strerror(errno));
    const pid_t child = spawn(arguments, to.read.get(), from.write.get(), errors.get());
    to.read.close();
    from.write.close();
    write_all(to.write.get(), std::as_bytes(std::span(input)));
    to.write.close();
    const std::string output = read_to_end(from.read.get());
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return output;
    ::lseek(errors.get(), 0, SEEK_SET);
    const std::string reason = last_line(read_to_end(errors.get()));
    fail("{} failed: {}", arguments.back(), reason.empty() ? "no reason given" : printable(reason));
}

} // namespace command
