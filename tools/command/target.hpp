// SPDX-License-Identifier: Apache-2.0
// Where results go. A file appears under its name only when it is complete.
#pragma once

#include "descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <sys/stat.h>

namespace command {

/**
 * One output. A regular file is written beside its target under a temporary name and renamed by
 * commit(); without commit() the target stays as it was and the temporary file is removed, also when
 * a signal ends the command. Pipes, devices and standard output ("-") are written directly.
 *
 * The temporary name depends on the target only, and is locked while it is written: what a killed run
 * left is removed by the next one, and two runs on one target do not disturb each other.
 */
class target {
public:
    /// Throws failure, in particular if a file exists and `replace` is false.
    target(const std::string &path, bool replace);
    target(target &&) = delete;
    ~target();

    /// For messages: printable, "standard output" for "-".
    const std::string &name() const { return name_; }
    bool is_standard_output() const { return standard_output_; }
    /// Whether write_at() can be used.
    bool random_access() const { return !temporary_.empty(); }

    void write(std::span<const std::byte> from);
    void write_at(std::int64_t offset, std::span<const std::byte> from);

    /// Checks that everything arrived and that the file has `bytes` bytes. With `durable`, waits for the disk.
    void finish(std::int64_t bytes, bool durable);
    /// Puts the finished file under its name.
    void commit(bool durable);

private:
    bool open_standard_output(const std::string &path);
    void open_directly(const std::string &path);
    void open_beside(const std::string &path);
    void create_temporary(const std::string &path);
    bool is_ours_and_locked(const std::string &path) const;
    void remove_stale(const std::string &path) const;
    void rename_temporary() const;
    void keep_mode(const struct stat &st) const;
    [[noreturn]] void fail_writing(int error) const;

    std::string name_;
    bool replace_ = false;
    bool standard_output_ = false;
    std::string final_path_; ///< with symbolic links followed
    std::string directory_;
    std::string temporary_; ///< empty if written directly
    std::optional<struct stat> old_;
    descriptor fd_;
    int signal_slot_ = -1;
};

/// Whether two paths lead to the same file to be written, existing or not.
bool same_target(const std::string &a, const std::string &b);

} // namespace command
