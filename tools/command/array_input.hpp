// SPDX-License-Identifier: Apache-2.0
// An array that is read: its source, standing at the first byte of data, and what its header said.
#pragma once

#include "npy.hpp"
#include "source.hpp"

#include <memory>

namespace command {

struct array_input {
    std::unique_ptr<source> from;
    array_info info;

    const std::string &name() const { return from->name(); }
};

/// Opens an .npy file, "-", a member of an .npz archive (FILE.npz:NAME) or a tensor (FILE.safetensors:NAME),
/// reads its header and, where the size is known, checks that its data is there. `named` says what opaque
/// bytes are. Throws failure.
array_input open_array(const std::string &path, std::optional<rownorm_type> named);

/// The same for what is an .npy file, wherever it comes from.
array_input open_npy(std::unique_ptr<source> from, std::optional<rownorm_type> named);

/// Refuses a --type for an array whose header says its type.
void require_opaque(const array_input &in, std::optional<rownorm_type> named);

/// Fails if fewer bytes came than the header promised.
void require_data(const array_input &in, std::int64_t promised, std::int64_t found);

/// Once all of the data has been read: the source's own checks, and a warning about bytes after the array.
void finish_reading(const array_input &in);

} // namespace command
