// SPDX-License-Identifier: Apache-2.0
#include "descriptor.hpp"

#include <cerrno>
#include <utility>

#include <unistd.h>

namespace command {

static_assert(sizeof(off_t) == 8, "files beyond 2 GiB need 64-bit offsets");

descriptor &descriptor::operator=(descriptor &&other) noexcept {
    if (this != &other) {
        close();
        fd_ = other.release();
    }
    return *this;
}

int descriptor::release() { return std::exchange(fd_, -1); }

int descriptor::close() {
    const int fd = release();
    // After EINTR Linux has closed the descriptor all the same: never close twice.
    return fd >= 0 && ::close(fd) != 0 && errno != EINTR ? errno : 0;
}

moved read_all(int fd, std::span<std::byte> into, std::int64_t offset) {
    moved done;
    while (done.bytes < into.size()) {
        std::byte *const at = into.data() + done.bytes;
        const std::size_t left = into.size() - done.bytes;
        const ssize_t got =
            offset < 0 ? ::read(fd, at, left) : ::pread(fd, at, left, off_t(offset) + off_t(done.bytes));
        if (got == 0)
            break;
        if (got > 0) {
            done.bytes += std::size_t(got);
        } else if (errno != EINTR) {
            done.error = errno;
            break;
        }
    }
    return done;
}

moved write_all(int fd, std::span<const std::byte> from, std::int64_t offset) {
    moved done;
    while (done.bytes < from.size()) {
        const std::byte *const at = from.data() + done.bytes;
        const std::size_t left = from.size() - done.bytes;
        const ssize_t put =
            offset < 0 ? ::write(fd, at, left) : ::pwrite(fd, at, left, off_t(offset) + off_t(done.bytes));
        if (put > 0) {
            done.bytes += std::size_t(put);
        } else if (put == 0 || errno != EINTR) { // a write of nothing would repeat for ever
            done.error = put == 0 ? ENOSPC : errno;
            break;
        }
    }
    return done;
}

} // namespace command
