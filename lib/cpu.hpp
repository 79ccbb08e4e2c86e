// SPDX-License-Identifier: Apache-2.0
// What this machine can run: CPUID, and the register state that the operating system saves.
#pragma once

namespace rownorm {

// Why an ISA cannot run here, as a static string; nullptr if it can.
const char *avx2_obstacle() noexcept;
const char *avx512_obstacle() noexcept;
const char *avx512bf16_obstacle() noexcept;

// Whether conversions of f16 in 512-bit vectors take longer than in 256-bit ones: AMD's Zen 4 (measured: the second
// pass of RMSNorm 1.25 times as long).
bool has_slow_wide_f16() noexcept;

} // namespace rownorm
