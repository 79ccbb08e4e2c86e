// SPDX-License-Identifier: Apache-2.0
//
// Random numbers from integers alone (SplitMix64), so that a seed means the same on every machine.
#pragma once

#include <cstdint>

namespace rownorm_test {

constexpr std::uint64_t scramble(std::uint64_t value) {
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ value >> 27) * 0x94d049bb133111ebULL;
    return value ^ value >> 31;
}

class Random {
public:
    explicit constexpr Random(std::uint64_t seed) : state_(scramble(seed + 1)) {}

    constexpr std::uint64_t next() { return scramble(state_ += 0x9e3779b97f4a7c15ULL); }

    /// 0 .. bound-1.
    constexpr std::uint64_t below(std::uint64_t bound) { return next() % bound; }

    /// In [-1, 1), a multiple of 2^-23.
    constexpr double uniform() { return static_cast<double>(next() >> 40) / 8388608.0 - 1.0; }

    /// Near the standard normal distribution: the sum of four uniform numbers, within +-3.47.
    constexpr double normal() {
        const std::uint64_t bits = next();
        std::int64_t sum = -131070;
        for (int shift = 0; shift < 64; shift += 16)
            sum += static_cast<std::int64_t>(bits >> shift & 0xffff);
        return static_cast<double>(sum) / 37837.0;
    }

private:
    std::uint64_t state_;
};

} // namespace rownorm_test
