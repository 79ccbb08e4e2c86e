// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace command {

/// Prints one line an ISA, best first: its name, and whether it runs or why it does not.
void list_isas();

} // namespace command
