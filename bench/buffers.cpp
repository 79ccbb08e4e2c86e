// SPDX-License-Identifier: Apache-2.0
#include "buffers.hpp"

#include "machine.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <new>
#include <random>
#include <vector>

namespace rownorm_bench {

namespace {

constexpr std::size_t line_bytes = 64;
// Where buffers begin decides what they cost: those at the same offset of a page make stores look like older loads'
// addresses; and AMD's L1 finds a line by a hash of bits 12 to 27 of its address, so that lines which agree in those
// and in their place in a page take turns in it (Lipp et al., Take A Way, ASIA CCS 2020): with x and the residual so,
// add + RMSNorm f32 of 32x128 takes 1.4 times as long. From multiples of 2^28 on, the first 64 KB of each role differ.
constexpr std::size_t hashed_bytes = std::size_t(1) << 28;
constexpr std::size_t role_offset_bytes = 64 * 1024 + 13 * line_bytes;
// What was read this many cache sizes ago is gone from the cache.
constexpr std::size_t eviction_factor = 4;

std::size_t whole_lines(std::size_t bytes) { return (bytes + line_bytes - 1) / line_bytes * line_bytes; }

// 16-bit patterns 0x3c00 to 0x3fff with either sign: 1 to 2 as f16, 2^-7 to 2 as bf16 and as the upper half
// of an f32, 2^-63 to 2 as the upper quarter of an f64.
const std::vector<std::uint16_t> &noise() {
    static const std::vector<std::uint16_t> values = [] {
        std::vector<std::uint16_t> made(1 << 20);
        std::mt19937 random(1);
        for (auto &value : made) {
            const auto bits = random();
            value = static_cast<std::uint16_t>(0x3c00U | (bits & 0x3ffU) | (bits >> 16 & 0x8000U));
        }
        return made;
    }();
    return values;
}

class Buffer {
public:
    std::byte *at_least(std::size_t bytes, std::size_t role) {
        bytes += role * role_offset_bytes;
        if (bytes > bytes_)
            grow(bytes);
        return data_ + role * role_offset_bytes;
    }

    void fill(std::size_t bytes) {
        const std::size_t tile = noise().size() * sizeof noise()[0];
        for (std::size_t at = 0; at < bytes; at += tile)
            std::memcpy(data_ + at, noise().data(), std::min(tile, bytes - at));
    }

private:
    void grow(std::size_t bytes) {
        if (mapped_ != nullptr)
            munmap(mapped_, bytes_ + hashed_bytes);
        void *fresh = mmap(nullptr, bytes + hashed_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (fresh == MAP_FAILED)
            throw std::bad_alloc();
        mapped_ = static_cast<std::byte *>(fresh);
        data_ = mapped_ + (-reinterpret_cast<std::uintptr_t>(fresh) & (hashed_bytes - 1));
        bytes_ = bytes;
        madvise(data_, bytes, MADV_HUGEPAGE);
        fill(bytes);
    }

    std::byte *mapped_ = nullptr, *data_ = nullptr;
    std::size_t bytes_ = 0;
};

Buffer buffers[5];

// The smallest power of two of sets that no cache holds.
std::size_t sets_past_caches(std::size_t set_bytes) {
    return std::bit_ceil(std::max<std::size_t>(2, eviction_factor * last_level_bytes() / set_bytes));
}

// An odd step near the golden section visits a power of two of sets without an order that a prefetcher follows.
std::size_t next_set(std::size_t set, std::size_t sets) {
    const std::size_t step = (sets * 5 / 8) | 1;
    return (set + step) & (sets - 1);
}

} // namespace

Sizes sizes_of(const Cell &cell) {
    const auto n = static_cast<std::size_t>(cell.shape.cols);
    const auto elements = static_cast<std::size_t>(cell.shape.rows) * n;
    return {elements * element_bytes(cell.mix->x), elements * element_bytes(cell.mix->y),
            n * element_bytes(cell.mix->weight)};
}

std::size_t bytes_touched(const Cell &cell) {
    const Sizes sizes = sizes_of(cell);
    return sizes.x * (cell.op->residual ? 2 : 1) + sizes.y + sizes.weight * (cell.op->bias ? 2 : 1);
}

std::size_t bytes_moved(const Cell &cell) {
    return bytes_touched(cell) + (cell.op->residual ? sizes_of(cell).x : 0); // the residual is written back
}

Rotation::Rotation(const Cell &cell) {
    const Sizes sizes = sizes_of(cell);
    const auto apart = static_cast<std::size_t>(stride_of(cell.place));
    strides_ = {whole_lines(sizes.x * apart), whole_lines(sizes.y * apart), whole_lines(sizes.weight)};
    const bool weight_is_cold = cell.place == Place::cold_weight || cell.place == Place::memory;
    row_sets_ = cell.place == Place::memory ? sets_past_caches(bytes_touched(cell)) : 1;
    weight_sets_ = !weight_is_cold ? 1 : std::max(row_sets_, sets_past_caches(sizes.weight));
    if (cell.place == Place::memory)
        weight_sets_ = row_sets_;
    const std::size_t bytes[5] = {strides_.x * row_sets_, strides_.x * row_sets_, strides_.y * row_sets_,
                                  strides_.weight * weight_sets_, strides_.weight * weight_sets_};
    std::byte *data[5];
    for (std::size_t role = 0; role < 5; role++)
        data[role] = buffers[role].at_least(bytes[role], role);
    if (cell.op->residual) // its sums were written back, perhaps in another type
        buffers[1].fill(bytes[1] + role_offset_bytes);
    begin_ = at_ = {data[0], data[1], data[2], data[3], data[4]};
}

void Rotation::advance() {
    if (weight_sets_ == 1)
        return;
    weight_set_ = next_set(weight_set_, weight_sets_);
    row_set_ = row_sets_ == 1 ? 0 : weight_set_;
    at_ = {begin_.x + row_set_ * strides_.x, begin_.residual + row_set_ * strides_.x, begin_.y + row_set_ * strides_.y,
           begin_.w + weight_set_ * strides_.weight, begin_.b + weight_set_ * strides_.weight};
}

} // namespace rownorm_bench
