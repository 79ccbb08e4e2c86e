// SPDX-License-Identifier: Apache-2.0
// Arrays inside other files: members of .npz archives and tensors of .safetensors files.
#pragma once

#include "array_input.hpp"

namespace command {

/// "model.safetensors:blk.norm.weight" in its parts.
struct container_name {
    std::string file;
    std::string member; ///< empty if none is named
};

/// The parts of a name with ".npz:" in it, or that ends in ".npz"; nothing if the name is a plain file's.
std::optional<container_name> npz_name(const std::string &path);
/// The same for ".safetensors".
std::optional<container_name> safetensors_name(const std::string &path);

/// Throw failure. A file with one member needs no member's name.
array_input open_npz_member(const container_name &name, std::optional<rownorm_type> named);
array_input open_tensor(const container_name &name);

/// The names for a message, the first ones of many.
std::string listed(const std::vector<std::string> &names);

} // namespace command
