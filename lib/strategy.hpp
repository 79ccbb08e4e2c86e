// SPDX-License-Identifier: Apache-2.0
// How rows are taken, by where they lie: a policy over the sizes of a batch and of this machine's caches. It
// changes no bits.
#pragma once

#include "plan.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace rownorm {

struct Strategy {
    bool ahead = false; // close the next rows before these are written, so that the latency of their roots is hidden
    bool far = false;   // the rows come from far, for which there are loops of their own:
    bool fetch_next = false;  // fetch the next rows to L2 while these are written
    bool fetch_to_l1 = false; // or to L1
    bool fetch_early = false; // and before, while these are summed
    bool stream = false;      // store y around the caches
};

// Bytes that a batch reads and writes; the gain and the bias, which stay in the caches, do not count.
int64_t traffic(const Plan &plan, const rownorm_io &io, int64_t rows) noexcept;

// For all the rows of an io, of which one thread takes `mine`.
Strategy choose_far_strategy(const Plan &plan, const rownorm_io &io, int64_t rows, int64_t mine) noexcept;
inline Strategy choose_strategy(const Plan &plan, const rownorm_io &io, int64_t rows, int64_t mine) noexcept {
    constexpr int64_t any_l2 = 128 << 10; // a batch that fits into this is near on every machine
    if (rows < any_l2 && plan.n < any_l2 && rows * plan.most_bytes <= any_l2)
        return {.ahead = plan.rows_of(io).ahead};
    return choose_far_strategy(plan, io, rows, mine);
}

// Orders streaming stores of this thread before what it does next. Once after all rows: it waits for memory.
inline void finish_streaming() noexcept {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

} // namespace rownorm
