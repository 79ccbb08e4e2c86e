// SPDX-License-Identifier: Apache-2.0
//
// Memory that notices what it should not: filled with a pattern, on request up against pages that
// cannot be touched; and the rows of one argument placed in it.
#pragma once

#include <rownorm/rownorm.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rownorm_test {

enum class Guard {
    none,
    page_after, ///< the last byte is followed by a page that faults
    page_before ///< the first byte follows a page that faults
};

inline constexpr Guard both_ends[] = {Guard::page_after, Guard::page_before};

class Memory {
public:
    Memory(std::size_t bytes, Guard guard);
    ~Memory();
    Memory(Memory &&other) noexcept;
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    Memory &operator=(Memory &&) = delete;

    std::byte *data() const { return data_; }
    std::size_t size() const { return size_; }
    /// A copy.
    std::vector<std::byte> bytes() const { return {data_, data_ + size_}; }
    /// From now on a write faults (guarded memory only).
    void make_read_only();

private:
    std::size_t size_;
    std::vector<std::byte> plain_;
    std::byte *pages_ = nullptr;
    std::size_t page_bytes_ = 0;
    std::byte *data_;
};

/// Where the rows of an argument lie, in elements.
struct Placement {
    std::int64_t offset = 0; ///< elements from the beginning of a cache line to the first row
    std::int64_t row_gap = 0;
    bool outer_first = false; ///< the first extent has the smallest stride (heads before tokens)
    Guard guard = Guard::none;
};

class Rows {
public:
    Rows(rownorm_type type, std::int64_t n, const std::array<std::int64_t, 3> &extent, const Placement &placement);

    void *data() const { return base_; }
    const std::array<std::int64_t, 3> &stride_bytes() const { return stride_bytes_; }
    rownorm_input input() const;
    rownorm_output output() const;

    /// Copies dense rows in; reads them out again.
    void put(const std::vector<std::byte> &dense);
    std::vector<std::byte> get() const;
    /// Whether every byte outside the rows is as it was made.
    bool gaps_intact() const;
    void make_read_only() { memory_.make_read_only(); }

private:
    template <class Function>
    void for_each_row(Function function) const;

    std::size_t row_bytes_;
    std::array<std::int64_t, 3> extent_, stride_bytes_;
    Memory memory_;
    std::byte *base_;
};

/// The pattern that memory is filled with: no value of any type that a test would use.
constexpr std::byte pattern{0xdb};

} // namespace rownorm_test
