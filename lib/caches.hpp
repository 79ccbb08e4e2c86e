// SPDX-License-Identifier: Apache-2.0
// The sizes of this machine's data caches, which decide how rows are taken and never what they become.
#pragma once

#include <cstdint>

namespace rownorm {

// Bytes; of one core or what it shares. What the kernel does not say is taken to be that of a common machine.
struct Caches {
    int64_t l1 = 32 << 10, l2 = 512 << 10, l3 = 8 << 20;
};

// Read once, or by threads that race here, which find the same. Without a lock, which a forked child could be left
// with.
Caches caches() noexcept;

} // namespace rownorm
