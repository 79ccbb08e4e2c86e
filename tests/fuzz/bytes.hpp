// SPDX-License-Identifier: Apache-2.0
//
// A fuzzer's input as a source of choices. When it ends, every choice is the first one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fuzz {

class Bytes {
public:
    Bytes(const std::uint8_t *data, std::size_t size) : at_(data), left_(size) {}

    std::size_t left() const { return left_; }

    template <class T>
    T take() {
        T value{};
        const std::size_t count = std::min(sizeof value, left_);
        std::memcpy(&value, at_, count);
        skip(count);
        return value;
    }

    /// 0 .. bound-1, for bounds up to 256.
    unsigned below(unsigned bound) { return take<std::uint8_t>() % bound; }
    bool chance(unsigned in) { return below(in) == in - 1; }

    template <class T, std::size_t count>
    T pick(const T (&values)[count]) {
        return values[below(count)];
    }

    /// Up to `most` bytes.
    std::vector<std::byte> bytes(std::size_t most) {
        const std::size_t count = std::min(most, left_);
        const auto *const begin = reinterpret_cast<const std::byte *>(at_);
        std::vector<std::byte> copy(begin, begin + count);
        skip(count);
        return copy;
    }

private:
    void skip(std::size_t count) {
        at_ += count;
        left_ -= count;
    }

    const std::uint8_t *at_;
    std::size_t left_;
};

} // namespace fuzz
