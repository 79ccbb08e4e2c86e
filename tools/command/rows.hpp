// SPDX-License-Identifier: Apache-2.0
// Rows of an array file: how they come into memory and back.
#pragma once

#include "array_input.hpp"
#include "layout.hpp"
#include "target.hpp"

namespace command {

/// Brings rows into memory as dense rows in this machine's byte order.
class row_reader {
public:
    row_reader(array_input &in, const row_layout &layout) : in_(in), layout_(layout) {}

    /// Whole rows. They are asked for in order, each time a run of rows within one outer index, or a number of
    /// whole ones.
    void read(std::int64_t first, std::int64_t rows, std::span<std::byte> into);

    /// The next elements of dense rows, whole rows or parts.
    void read_next(std::span<std::byte> into);

    /// Elements [first, first + into) of one row. Needs random access.
    void read_part(std::int64_t row, std::int64_t first, std::span<std::byte> into);

private:
    void read_slabs(std::span<std::byte> into);
    void read_tile(std::int64_t first, std::int64_t rows, std::span<std::byte> into);
    void read_columns(std::int64_t row, std::int64_t first, std::span<std::byte> into);
    void next_bytes(std::span<std::byte> into);
    void bytes_at(std::int64_t element, std::span<std::byte> into);
    std::size_t width() const { return type_bytes(in_.info.of.type); }

    array_input &in_;
    const row_layout layout_;
    std::int64_t done_bytes_ = 0;
    std::vector<std::byte> scratch_;
};

/// The other way. The rows handed over are used as scratch memory.
class row_writer {
public:
    row_writer(target &to, const array_info &info, const row_layout &layout) : to_(to), info_(info), layout_(layout) {}

    void write_header();
    void write(std::int64_t first, std::int64_t rows, std::span<std::byte> from);
    /// Elements of one row from `first` on; of dense rows in order.
    void write_part(std::int64_t row, std::int64_t first, std::span<std::byte> from);

    /// Bytes of the whole file, once its header is written.
    std::int64_t file_bytes() const { return header_bytes_ + info_.bytes; }
    const array_info &info() const { return info_; }
    const row_layout &layout() const { return layout_; }

private:
    void write_tile(std::int64_t first, std::int64_t rows, std::span<const std::byte> tile);
    void bytes_at(std::int64_t element, std::span<const std::byte> from);
    std::size_t width() const { return type_bytes(info_.of.type); }

    target &to_;
    const array_info info_;
    const row_layout layout_;
    std::int64_t header_bytes_ = 0;
    std::vector<std::byte> scratch_;
};

/// Where the rows of a job come from and go to. residual and residual_out may be null.
struct row_ends {
    row_reader *x = nullptr;
    row_reader *residual = nullptr;
    row_writer *y = nullptr;
    row_writer *residual_out = nullptr;
};

} // namespace command
