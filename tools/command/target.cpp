// SPDX-License-Identifier: Apache-2.0
#include "target.hpp"

#include "failure.hpp"
#include "signals.hpp"
#include "text.hpp"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace command {

namespace {

bool same_file(const struct stat &a, const struct stat &b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

/// The path with a symbolic link at its end followed, also one to a file that does not exist yet.
std::string follow_links(std::string path, const std::string &name) {
    for (int hops = 0; hops < 40; ++hops) {
        char link[PATH_MAX];
        const ssize_t length = ::readlink(path.c_str(), link, sizeof link);
        if (length < 0)
            return path;
        const std::string next(link, std::size_t(length));
        const std::size_t slash = path.rfind('/');
        if (next.starts_with('/') || slash == std::string::npos)
            path = next;
        else
            path.replace(slash + 1, std::string::npos, next);
    }
    fail("{}: too many symbolic links", name);
}

/// The directory and the name in it.
std::pair<std::string, std::string> split(const std::string &path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos)
        return {".", path};
    return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

/// FNV-1a: short names that differ for files that differ, in any directory.
std::uint64_t hash(std::string_view text) {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (const char c : text)
        h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return h;
}

} // namespace

target::target(const std::string &path, bool replace)
    : name_(path == "-" ? "standard output" : printable(path)), replace_(replace) {
    if (open_standard_output(path))
        return;
    struct stat st {};
    const bool exists = ::stat(path.c_str(), &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        fail("{}: a directory found; expected a file to write", name_);
    if (exists && !S_ISREG(st.st_mode)) {
        open_directly(path);
        return;
    }
    if (exists && !replace)
        fail("{}: the file exists; use --force to replace it", name_);
    if (exists)
        old_ = st;
    open_beside(path);
}

target::~target() {
    if (!temporary_.empty())
        ::unlink(temporary_.c_str());
    keep_on_signal(signal_slot_);
}

/// "-", and any name under which the system lists our standard output: replacing what that leads to by
/// a new file would not reach the one who reads it.
bool target::open_standard_output(const std::string &path) {
    struct stat st {
    }, out{};
    const bool system_name = path.starts_with("/dev/") || path.starts_with("/proc/");
    if (path != "-" && !(system_name && ::stat(path.c_str(), &st) == 0 && !S_ISCHR(st.st_mode) &&
                         ::fstat(STDOUT_FILENO, &out) == 0 && same_file(st, out)))
        return false;
    standard_output_ = true;
    fd_ = descriptor(::dup(STDOUT_FILENO));
    if (!fd_)
        fail_writing(errno);
    return true;
}

void target::open_directly(const std::string &path) {
    fd_ = descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!fd_)
        fail_writing(errno);
}

void target::open_beside(const std::string &path) {
    final_path_ = follow_links(path, name_);
    const auto [directory, file] = split(final_path_);
    directory_ = directory;
    if (file.empty())
        fail("{}: no such directory; expected a file to write", name_);
    // A rename asks for no right to the old file, but one that must not be written is respected.
    if (old_ && ::access(final_path_.c_str(), W_OK) != 0)
        fail_writing(errno);
    create_temporary(fmt::format("{}/.rownorm-{:016x}.tmp", directory, hash(file)));
    if (old_)
        keep_mode(*old_);
}

void target::create_temporary(const std::string &path) {
    // Closed to others until it has the old file's mode; a new file gets 0666 less the umask.
    const mode_t mode = old_ ? 0600 : 0666;
    const signals_held held; // no file of ours without an entry for the signal handler
    for (int attempt = 0; attempt < 100; ++attempt) {
        fd_ = descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
        if (!fd_ && errno != EEXIST)
            fail("{}: cannot create a file in {}: {}", name_, printable(directory_), std::strerror(errno));
        if (!fd_) {
            remove_stale(path);
        } else if (is_ours_and_locked(path)) {
            temporary_ = path;
            signal_slot_ = remove_on_signal(path, name_);
            return;
        }
    }
    fail("{}: other runs keep writing it", name_);
}

/// Another run may take our file for a stale one, and remove it, before it is locked.
bool target::is_ours_and_locked(const std::string &path) const {
    if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    struct stat ours {
    }, there{};
    return ::fstat(fd_.get(), &ours) == 0 && ::lstat(path.c_str(), &there) == 0 && same_file(ours, there);
}

/// Removes what a killed run left; a run that lives holds the lock.
void target::remove_stale(const std::string &path) const {
    const descriptor stale(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!stale && errno == ENOENT)
        return;
    if (stale && ::flock(stale.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        fail("{}: another rownorm is writing it", name_);
    struct stat opened {
    }, there{};
    const bool same =
        stale && ::fstat(stale.get(), &opened) == 0 && ::lstat(path.c_str(), &there) == 0 && same_file(opened, there);
    if (!stale || (same && ::unlink(path.c_str()) != 0 && errno != ENOENT))
        fail("{}: {} is in the way: {}", name_, printable(path), std::strerror(errno));
}

void target::keep_mode(const struct stat &st) const {
    // The owner first, since changing it clears set-user bits. That only root may change it is no failure.
    if (::fchown(fd_.get(), st.st_uid, st.st_gid) != 0 && ::fchown(fd_.get(), uid_t(-1), st.st_gid) != 0)
        errno = 0;
    if (::fchmod(fd_.get(), st.st_mode & 07777) != 0)
        fail_writing(errno);
}

void target::fail_writing(int error) const { fail("{}: cannot be written: {}", name_, std::strerror(error)); }

void target::write(std::span<const std::byte> from) {
    if (const moved done = write_all(fd_.get(), from); done.error != 0)
        fail_writing(done.error);
}

void target::write_at(std::int64_t offset, std::span<const std::byte> from) {
    if (const moved done = write_all(fd_.get(), from, offset); done.error != 0)
        fail_writing(done.error);
}

void target::finish(std::int64_t bytes, bool durable) {
    struct stat st {};
    if (random_access() && ::fstat(fd_.get(), &st) != 0)
        fail_writing(errno);
    if (random_access() && st.st_size != bytes)
        fail("{}: {} bytes found after writing; expected {}", name_, std::int64_t(st.st_size), bytes);
    if (durable && ::fsync(fd_.get()) != 0 && errno != EINVAL && errno != EROFS) // those: a pipe, a device
        fail_writing(errno);
    // The lock must outlive the rename, so ours stays open; closing a duplicate reports what closing it would.
    descriptor last = random_access() ? descriptor(::dup(fd_.get())) : std::move(fd_);
    if (const int error = last ? last.close() : errno; error != 0)
        fail_writing(error);
}

void target::commit(bool durable) {
    if (temporary_.empty())
        return;
    rename_temporary();
    keep_on_signal(signal_slot_);
    signal_slot_ = -1;
    temporary_.clear();
    if (!durable)
        return;
    const descriptor directory(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory || ::fsync(directory.get()) != 0)
        fail("{}: written, but its directory could not be flushed: {}", name_, std::strerror(errno));
}

void target::rename_temporary() const {
    // What did not exist when we began must not be replaced if it exists by now.
    if (!old_ && !replace_) {
        if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, final_path_.c_str(), RENAME_NOREPLACE) == 0)
            return;
        if (errno == EEXIST)
            fail("{}: the file has appeared meanwhile; use --force to replace it", name_);
        // Otherwise the file system has no such rename: the plain one follows.
    }
    if (::rename(temporary_.c_str(), final_path_.c_str()) != 0)
        fail_writing(errno);
}

bool same_target(const std::string &a, const std::string &b) {
    const auto [directory_a, file_a] = split(follow_links(a, printable(a)));
    const auto [directory_b, file_b] = split(follow_links(b, printable(b)));
    struct stat at_a {
    }, at_b{};
    return file_a == file_b && ::stat(directory_a.c_str(), &at_a) == 0 && ::stat(directory_b.c_str(), &at_b) == 0 &&
           same_file(at_a, at_b);
}

} // namespace command
