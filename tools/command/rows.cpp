// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include "convert.hpp"
#include "failure.hpp"

#include <cstring>

namespace command {

namespace {

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

/// Up to this many bytes of neighbouring rows are read along to get at one row's elements.
constexpr std::int64_t most_bytes_between = 512;

/// `rows` rows out of as many columns of n elements, each column a run in the file.
void gather(std::byte *into, const std::byte *columns, std::int64_t rows, const row_layout &layout, std::size_t width) {
    if (layout.reversed.empty())
        return transpose(into, columns, size(layout.n), size(rows), width);
    for (std::int64_t j = 0; j < layout.n; ++j) {
        const std::byte *const column = columns + size(layout.column(j) * rows) * width;
        for (std::int64_t i = 0; i < rows; ++i)
            std::memcpy(into + size(i * layout.n + j) * width, column + size(i) * width, width);
    }
}

void scatter(std::byte *columns, const std::byte *from, std::int64_t rows, const row_layout &layout,
             std::size_t width) {
    if (layout.reversed.empty())
        return transpose(columns, from, size(rows), size(layout.n), width);
    for (std::int64_t j = 0; j < layout.n; ++j) {
        std::byte *const column = columns + size(layout.column(j) * rows) * width;
        for (std::int64_t i = 0; i < rows; ++i)
            std::memcpy(column + size(i) * width, from + size(i * layout.n + j) * width, width);
    }
}

} // namespace

void row_reader::read(std::int64_t first, std::int64_t rows, std::span<std::byte> into) {
    if (layout_.dense())
        return read_next(into);
    if (rows % layout_.inner == 0)
        read_slabs(into);
    else
        read_tile(first, rows, into);
    if (in_.info.of.big_endian)
        swap_bytes(into, width());
}

void row_reader::read_next(std::span<std::byte> into) {
    next_bytes(into);
    if (in_.info.of.big_endian)
        swap_bytes(into, width());
}

void row_reader::next_bytes(std::span<std::byte> into) {
    const std::size_t got = in_.from->read(into);
    done_bytes_ += std::int64_t(got);
    if (got < into.size())
        require_data(in_, in_.info.bytes, done_bytes_);
}

void row_reader::bytes_at(std::int64_t element, std::span<std::byte> into) {
    const std::int64_t at = element * std::int64_t(width());
    const std::size_t got = in_.from->read_at(in_.info.data_begin + at, into);
    if (got < into.size())
        require_data(in_, in_.info.bytes, at + std::int64_t(got));
}

void row_reader::read_slabs(std::span<std::byte> into) {
    const std::size_t slab = size(layout_.inner * layout_.n) * width();
    scratch_.resize(into.size());
    next_bytes(scratch_);
    for (std::size_t at = 0; at < into.size(); at += slab)
        gather(into.data() + at, scratch_.data() + at, layout_.inner, layout_, width());
}

void row_reader::read_tile(std::int64_t first, std::int64_t rows, std::span<std::byte> into) {
    const std::int64_t o = first / layout_.inner, i = first % layout_.inner;
    const std::size_t line = size(rows) * width();
    scratch_.resize(into.size());
    for (std::int64_t c = 0; c < layout_.n; ++c)
        bytes_at((o * layout_.n + c) * layout_.inner + i, std::span(scratch_).subspan(size(c) * line, line));
    gather(into.data(), scratch_.data(), rows, layout_, width());
}

void row_reader::read_part(std::int64_t row, std::int64_t first, std::span<std::byte> into) {
    if (layout_.dense())
        bytes_at(row * layout_.n + first, into);
    else
        read_columns(row, first, into);
    if (in_.info.of.big_endian)
        swap_bytes(into, width());
}

void row_reader::read_columns(std::int64_t row, std::int64_t first, std::span<std::byte> into) {
    const std::int64_t o = row / layout_.inner, i = row % layout_.inner;
    const std::size_t count = into.size() / width();
    const auto at = [&](std::int64_t column) { return (o * layout_.n + column) * layout_.inner + i; };
    if (layout_.reversed.empty() && layout_.inner * std::int64_t(width()) <= most_bytes_between) {
        scratch_.resize(((count - 1) * size(layout_.inner) + 1) * width());
        bytes_at(at(first), scratch_);
        for (std::size_t j = 0; j < count; ++j)
            std::memcpy(&into[j * width()], &scratch_[j * size(layout_.inner) * width()], width());
        return;
    }
    for (std::size_t j = 0; j < count; ++j)
        bytes_at(at(layout_.column(first + std::int64_t(j))), into.subspan(j * width(), width()));
}

void row_writer::write_header() {
    const std::string header = write_npy_header(info_);
    header_bytes_ = std::int64_t(header.size());
    to_.write(std::as_bytes(std::span(header)));
}

void row_writer::bytes_at(std::int64_t element, std::span<const std::byte> from) {
    to_.write_at(header_bytes_ + element * std::int64_t(width()), from);
}

void row_writer::write(std::int64_t first, std::int64_t rows, std::span<std::byte> from) {
    if (info_.of.big_endian)
        swap_bytes(from, width());
    if (layout_.dense())
        return to_.write(from);
    scratch_.resize(from.size());
    const bool slabs = rows % layout_.inner == 0;
    const std::int64_t together = slabs ? layout_.inner : rows;
    const std::size_t block = size(together * layout_.n) * width();
    for (std::size_t at = 0; at < from.size(); at += block)
        scatter(scratch_.data() + at, from.data() + at, together, layout_, width());
    if (slabs)
        to_.write(scratch_);
    else
        write_tile(first, rows, scratch_);
}

void row_writer::write_tile(std::int64_t first, std::int64_t rows, std::span<const std::byte> tile) {
    const std::int64_t o = first / layout_.inner, i = first % layout_.inner;
    const std::size_t line = size(rows) * width();
    for (std::int64_t c = 0; c < layout_.n; ++c)
        bytes_at((o * layout_.n + c) * layout_.inner + i, tile.subspan(size(c) * line, line));
}

void row_writer::write_part(std::int64_t row, std::int64_t first, std::span<std::byte> from) {
    if (info_.of.big_endian)
        swap_bytes(from, width());
    if (layout_.dense())
        return to_.write(from);
    const std::int64_t o = row / layout_.inner, i = row % layout_.inner;
    for (std::size_t j = 0; j * width() < from.size(); ++j) {
        const std::int64_t column = layout_.column(first + std::int64_t(j));
        bytes_at((o * layout_.n + column) * layout_.inner + i, from.subspan(j * width(), width()));
    }
}

} // namespace command
