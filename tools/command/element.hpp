// SPDX-License-Identifier: Apache-2.0
// The element types of array files.
#pragma once

#include <rownorm/rownorm.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace command {

/// One element as a file holds it.
struct element {
    rownorm_type type = ROWNORM_F32;
    bool big_endian = false;
    bool opaque = false; ///< bytes of which only the user knew the type
    std::string descr;   ///< as the .npy header says it
};

std::size_t type_bytes(rownorm_type type);
/// "f32", "f16", "bf16", "f64".
const char *type_name(rownorm_type type);
/// The types by their names, for options.
std::vector<std::pair<std::string, rownorm_type>> type_choices();

/// The element that `descr` of an .npy header means. Opaque bytes ('|V2', '<V2', also 'bfloat16' and
/// '<g2', which some writers leave) mean what the user says they are; for others that is not used. Throws
/// format_error.
element element_from_descr(const std::string &descr, std::optional<rownorm_type> named);

/// The little-endian element for a type; bf16, for which .npy has no name, is '<V2'.
element element_for(rownorm_type type);

} // namespace command
