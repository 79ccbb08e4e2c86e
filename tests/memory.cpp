// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include "formats.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace rownorm_test {
namespace {

std::size_t page_size() {
    static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

/// Whole pages with an untouchable one on either side; aborts the test program if there are none.
std::byte *map_guarded(std::size_t bytes) {
    void *const all = mmap(nullptr, bytes + 2 * page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        std::abort();
    std::byte *const inside = static_cast<std::byte *>(all) + page_size();
    if (mprotect(inside, bytes, PROT_READ | PROT_WRITE) != 0)
        std::abort();
    return inside;
}

std::size_t whole_pages(std::size_t bytes) { return (bytes / page_size() + 1) * page_size(); }

std::size_t rows_bytes(std::size_t row_bytes, const std::array<std::int64_t, 3> &extent,
                       const std::array<std::int64_t, 3> &stride_bytes) {
    std::size_t last = 0;
    for (std::size_t d = 0; d < 3; ++d) {
        if (extent[d] == 0)
            return 0;
        last += static_cast<std::size_t>((extent[d] - 1) * stride_bytes[d]);
    }
    return last + row_bytes;
}

std::array<std::int64_t, 3> strides(std::int64_t row_stride, const std::array<std::int64_t, 3> &extent,
                                    const Placement &placement) {
    if (placement.outer_first)
        return {row_stride, row_stride * extent[0], row_stride * extent[0] * extent[1]};
    return {row_stride * extent[2] * extent[1], row_stride * extent[2], row_stride};
}

constexpr std::size_t line_bytes = 64, margin_bytes = line_bytes;

} // namespace

Memory::Memory(std::size_t bytes, Guard guard) : size_(bytes) {
    if (guard == Guard::none) { // at the beginning of a cache line
        plain_.assign(bytes + line_bytes, pattern);
        data_ = plain_.data() + (-reinterpret_cast<std::uintptr_t>(plain_.data()) & (line_bytes - 1));
        return;
    }
    page_bytes_ = whole_pages(bytes);
    pages_ = map_guarded(page_bytes_);
    std::memset(pages_, static_cast<int>(pattern), page_bytes_);
    data_ = guard == Guard::page_before ? pages_ : pages_ + page_bytes_ - bytes;
}

Memory::~Memory() {
    if (pages_ != nullptr)
        munmap(pages_ - page_size(), page_bytes_ + 2 * page_size());
}

Memory::Memory(Memory &&other) noexcept
    : size_(other.size_), plain_(std::move(other.plain_)), pages_(std::exchange(other.pages_, nullptr)),
      page_bytes_(other.page_bytes_), data_(other.data_) {}

void Memory::make_read_only() {
    if (pages_ != nullptr && mprotect(pages_, page_bytes_, PROT_READ) != 0)
        std::abort();
}

Rows::Rows(rownorm_type type, std::int64_t n, const std::array<std::int64_t, 3> &extent, const Placement &placement)
    : row_bytes_(static_cast<std::size_t>(n) * size_of(type)), extent_(extent),
      stride_bytes_(strides((n + placement.row_gap) * static_cast<std::int64_t>(size_of(type)), extent, placement)),
      memory_(rows_bytes(row_bytes_, extent, stride_bytes_) + (placement.guard == Guard::none ? 2 * margin_bytes : 0) +
                  static_cast<std::size_t>(placement.offset) * size_of(type),
              placement.guard) {
    const std::size_t margin = placement.guard == Guard::none ? margin_bytes : 0;
    base_ = memory_.data() + margin + static_cast<std::size_t>(placement.offset) * size_of(type);
}

rownorm_input Rows::input() const { return {base_, {stride_bytes_[0], stride_bytes_[1], stride_bytes_[2]}}; }
rownorm_output Rows::output() const { return {base_, {stride_bytes_[0], stride_bytes_[1], stride_bytes_[2]}}; }

template <class Function>
void Rows::for_each_row(Function function) const {
    std::size_t row = 0;
    for (std::int64_t i = 0; i < extent_[0]; ++i)
        for (std::int64_t j = 0; j < extent_[1]; ++j)
            for (std::int64_t k = 0; k < extent_[2]; ++k, ++row)
                function(row, i * stride_bytes_[0] + j * stride_bytes_[1] + k * stride_bytes_[2]);
}

void Rows::put(const std::vector<std::byte> &dense) {
    for_each_row([&](std::size_t row, std::int64_t at) {
        std::memcpy(base_ + at, dense.data() + row * row_bytes_, row_bytes_);
    });
}

std::vector<std::byte> Rows::get() const {
    const auto rows = static_cast<std::size_t>(extent_[0] * extent_[1] * extent_[2]);
    std::vector<std::byte> dense(rows * row_bytes_);
    for_each_row([&](std::size_t row, std::int64_t at) {
        std::memcpy(dense.data() + row * row_bytes_, base_ + at, row_bytes_);
    });
    return dense;
}

bool Rows::gaps_intact() const {
    std::vector<std::byte> copy(memory_.data(), memory_.data() + memory_.size());
    const std::ptrdiff_t base = base_ - memory_.data();
    for_each_row([&](std::size_t, std::int64_t at) { std::fill_n(copy.begin() + base + at, row_bytes_, pattern); });
    return std::all_of(copy.begin(), copy.end(), [](std::byte b) { return b == pattern; });
}

} // namespace rownorm_test
