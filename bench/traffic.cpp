// SPDX-License-Identifier: Apache-2.0
#include "traffic.hpp"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#define WIDTHS __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define WIDTHS
#endif

namespace rownorm_bench {

void nt_copy([[maybe_unused]] std::byte *to, [[maybe_unused]] const std::byte *from,
             [[maybe_unused]] std::size_t bytes) {
#if defined(__x86_64__)
    const std::size_t whole = bytes / sizeof(__m128i) * sizeof(__m128i);
    for (std::size_t at = 0; at < whole; at += sizeof(__m128i)) {
        const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + at));
        _mm_stream_si128(reinterpret_cast<__m128i *>(to + at), value);
    }
    std::memcpy(to + whole, from + whole, bytes - whole);
    _mm_sfence();
#endif
}

WIDTHS void triad(float *y, const float *x, const float *w, std::size_t rows, std::size_t n) {
    for (std::size_t row = 0; row < rows; row++)
        for (std::size_t i = 0; i < n; i++)
            y[row * n + i] = x[row * n + i] * w[i];
}

WIDTHS void triad(double *y, const double *x, const double *w, std::size_t rows, std::size_t n) {
    for (std::size_t row = 0; row < rows; row++)
        for (std::size_t i = 0; i < n; i++)
            y[row * n + i] = x[row * n + i] * w[i];
}

WIDTHS unsigned long long read_all(const std::byte *from, std::size_t bytes) {
    std::uint64_t sums[32] = {};
    constexpr std::size_t step = sizeof sums;
    std::size_t at = 0;
    for (; at + step <= bytes; at += step) {
        std::uint64_t block[32];
        std::memcpy(block, from + at, step);
        for (int i = 0; i < 32; i++)
            sums[i] ^= block[i];
    }
    unsigned long long all = 0;
    for (; at < bytes; at++)
        all ^= std::to_integer<unsigned long long>(from[at]);
    for (const std::uint64_t sum : sums)
        all ^= sum;
    return all;
}

} // namespace rownorm_bench
