// SPDX-License-Identifier: Apache-2.0
//
// The loops behind the limits; each is compiled for several vector widths and the best is taken at run time.
#pragma once

#include <cstddef>

namespace rownorm_bench {

constexpr bool has_nt_copy =
#if defined(__x86_64__)
    true;
#else
    false;
#endif

// Copies with stores that go around the caches. `to` is aligned to 16 bytes. Copies nothing without has_nt_copy.
void nt_copy(std::byte *to, const std::byte *from, std::size_t bytes);

// y = x * w, with a w of its own for each element of a row of n; what a norm's second pass alone has to do.
void triad(float *y, const float *x, const float *w, std::size_t rows, std::size_t n);
void triad(double *y, const double *x, const double *w, std::size_t rows, std::size_t n);

// Reads everything; the result is of no use but keeps the loop.
unsigned long long read_all(const std::byte *from, std::size_t bytes);

} // namespace rownorm_bench
