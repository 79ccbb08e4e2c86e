// SPDX-License-Identifier: Apache-2.0
// What decides how rows are taken and never what they become: the data caches of this machine, and how it stores
// around them.
#pragma once

#include <cstdint>

namespace rownorm {

struct Machine {
    // Bytes, of one core or what it shares. What the kernel does not say is taken to be that of a common machine.
    int64_t l1 = 32 << 10, l2 = 512 << 10, l3 = 8 << 20;
    bool takes_turns = false; // streams_hinder_reads()
};

// Read once, or by threads that race here, which find the same; ROWNORM_MACHINE replaces what it names. Without a lock
// around the files, which a forked child could be left with.
Machine machine() noexcept;

// What `settings`, the text of ROWNORM_MACHINE, makes of a machine.
Machine with_settings(Machine machine, const char *settings) noexcept;

} // namespace rownorm
