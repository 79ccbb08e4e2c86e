// SPDX-License-Identifier: Apache-2.0
#include "source.hpp"

#include "descriptor.hpp"
#include "failure.hpp"
#include "text.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace command {

namespace {

class file_source final : public source {
public:
    file_source(std::string name, descriptor fd) : source(std::move(name)), fd_(std::move(fd)) {
        struct stat st {};
        if (::fstat(fd_.get(), &st) != 0)
            fail_reading(errno);
        if (S_ISDIR(st.st_mode))
            fail("{}: a directory found; expected an array file", this->name());
        regular_ = S_ISREG(st.st_mode);
        size_ = st.st_size;
        // Standard input may be a file that someone has read from already.
        const off_t at = regular_ ? ::lseek(fd_.get(), 0, SEEK_CUR) : 0;
        begin_ = at > 0 ? at : 0;
        if (regular_)
            ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    }

    std::size_t read(std::span<std::byte> into) override { return checked(read_all(fd_.get(), into)); }

    std::size_t read_at(std::int64_t offset, std::span<std::byte> into) override {
        return checked(read_all(fd_.get(), into, begin_ + offset));
    }

    bool random_access() const override { return regular_; }

    std::optional<std::int64_t> size() const override {
        // Files of /proc and the like say 0 and yet have bytes.
        return regular_ && size_ > begin_ ? std::optional(size_ - begin_) : std::nullopt;
    }

private:
    [[noreturn]] void fail_reading(int error) const { fail("{}: cannot be read: {}", name(), std::strerror(error)); }

    std::size_t checked(moved done) const {
        if (done.error != 0)
            fail_reading(done.error);
        return done.bytes;
    }

    descriptor fd_;
    bool regular_ = false;
    std::int64_t size_ = 0;
    std::int64_t begin_ = 0;
};

} // namespace

std::unique_ptr<source> open_source(const std::string &path) {
    if (path == "-")
        return std::make_unique<file_source>("standard input", descriptor(::dup(STDIN_FILENO)));
    descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!fd)
        fail("{}: cannot be opened: {}", printable(path), std::strerror(errno));
    return std::make_unique<file_source>(printable(path), std::move(fd));
}

} // namespace command
