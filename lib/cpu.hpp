// SPDX-License-Identifier: Apache-2.0
// What this machine can run: CPUID, and the register state that the operating system saves.
#pragma once

namespace rownorm {

// Why an ISA cannot run here, as a static string; nullptr if it can.
const char *avx2_obstacle() noexcept;
const char *avx512_obstacle() noexcept;

} // namespace rownorm
