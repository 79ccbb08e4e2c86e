// SPDX-License-Identifier: Apache-2.0
// What this machine can run: CPUID, and the register state that the operating system saves.
#pragma once

namespace rownorm {

// Why an ISA cannot run here, as a static string; nullptr if it can.
const char *avx2_obstacle() noexcept;
const char *avx512_obstacle() noexcept;
const char *avx512bf16_obstacle() noexcept;

// Whether 512-bit vectors are done in halves, and so gain little and cost something here and there: AMD's Zen 4
// (measured: RMSNorm's second pass over f16 takes 1.25 times as long, RMSNorm f32 of 77x1023 1.09 times).
bool has_slow_wide_vectors() noexcept;

// Whether rows on the way to memory, to L2 and back, or not on cache lines are faster with vectors of half a line:
// Intel (measured on Granite Rapids: with whole ones RMSNorm of 4096x8192 takes 1.14 times as long in f32, 1.18 in f64,
// and f32 of 1x8192 and 1x16384 1.06, of 77x511 1.13).
bool moves_by_halves() noexcept;

// Whether stores around the caches and reads of other lines hinder each other, so that taking turns is faster than both
// at once: AMD (measured: RMSNorm f32 of 4096x8192 takes 1.08 times as long with both at once on Zen 4, and 1.25 times
// with turns on Intel's Granite Rapids).
#if defined(__x86_64__)
bool streams_hinder_reads() noexcept;
#else
inline bool streams_hinder_reads() noexcept { return false; } // there are no such stores
#endif

} // namespace rownorm
