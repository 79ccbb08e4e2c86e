// SPDX-License-Identifier: Apache-2.0
// What the command says of itself.
#pragma once

#include <string>
#include <vector>

namespace command {

/// "0.1.0": the version of the library that is running.
std::string version_number();

/// "GCC 12.2.0".
std::string compiler();

/// The ISAs that the library was built with, the best one first.
std::vector<std::string> built_isas();

/// The ISA that runs by default. Throws failure if ROWNORM_MAX_ISA is no ISA's name.
const char *chosen_isa();

} // namespace command
