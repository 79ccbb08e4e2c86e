// SPDX-License-Identifier: Apache-2.0
// Where bytes come from. Only read() and pread(), never a mapping: a file that is cut while it is
// read is then an error, not a SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace command {

class source {
public:
    virtual ~source() = default;

    /// For messages: printable, "standard input" for "-".
    const std::string &name() const { return name_; }

    /// The next bytes; fewer than asked for only at the end. Throws failure.
    virtual std::size_t read(std::span<std::byte> into) = 0;

    /// Bytes from `offset` of the source on; only if random_access().
    virtual std::size_t read_at(std::int64_t offset, std::span<std::byte> into) = 0;
    virtual bool random_access() const = 0;

    /// The size in bytes, where it can be known beforehand.
    virtual std::optional<std::int64_t> size() const = 0;

    /// To be called when all that is wanted has been read: checks what can be checked only then. Throws failure.
    virtual void finish() {}

protected:
    explicit source(std::string name) : name_(std::move(name)) {}

private:
    std::string name_;
};

/// Opens a file, or standard input for "-". Throws failure.
std::unique_ptr<source> open_source(const std::string &path);

} // namespace command
