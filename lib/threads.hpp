// SPDX-License-Identifier: Apache-2.0
// How many threads a call may use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rownorm {

// What ROWNORM_NUM_THREADS asks for, else what the affinity mask and the cgroup's CPU quota allow; at least 1.
uint32_t default_threads() noexcept;

// As set by rownorm_set_num_threads(), else default_threads().
uint32_t current_threads() noexcept;

// Reads a small file of the kernel's into `buffer`, NUL-terminated; its length, or -1.
long read_file(const char *path, char *buffer, size_t size) noexcept;

} // namespace rownorm
