// SPDX-License-Identifier: Apache-2.0
// File descriptors, and loops over short reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace command {

/// Owns a file descriptor.
class descriptor {
public:
    explicit descriptor(int fd = -1) : fd_(fd) {}
    descriptor(descriptor &&other) noexcept : fd_(other.release()) {}
    descriptor &operator=(descriptor &&other) noexcept;
    ~descriptor() { close(); }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    int release();
    /// Closes; gives 0 or errno. Some file systems report a failed write only here.
    int close();

private:
    int fd_;
};

/// The outcome of a loop: bytes moved, and errno if it ended by an error.
struct moved {
    std::size_t bytes = 0;
    int error = 0;
};

/// Reads until `into` is full, the end or an error; from `offset` on, or at the file position if it is < 0.
moved read_all(int fd, std::span<std::byte> into, std::int64_t offset = -1);
/// Writes everything or fails; at `offset`, or at the file position if it is < 0.
moved write_all(int fd, std::span<const std::byte> from, std::int64_t offset = -1);

} // namespace command
