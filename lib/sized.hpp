// SPDX-License-Identifier: Apache-2.0
// Structs of the caller's version: struct_size says how much of one there is.
#pragma once

#include "status.hpp"

#include <cstring>

namespace rownorm {

// Checks struct_size: at least the first release's size, which is this one's, and nothing but zeros past
// what this version knows.
template <class T>
rownorm_status check_size(const T *from, const char *name) noexcept {
    constexpr uint32_t known = sizeof(T), largest = 4096;
    const uint32_t size = from->struct_size;
    if (size == known)
        return ROWNORM_OK;
    if (size < known || size > largest)
        return fail(ROWNORM_INVALID_ARGUMENT, "%s->struct_size is %u; it must be sizeof the struct, %u bytes here",
                    name, size, known);
    const auto *bytes = reinterpret_cast<const unsigned char *>(from);
    for (uint32_t i = known; i < size; i++)
        if (bytes[i])
            return fail(ROWNORM_INVALID_ARGUMENT,
                        "%s->struct_size is %u and byte %u is not 0: a field that this version does not know", name,
                        size, i);
    return ROWNORM_OK;
}

template <class T>
rownorm_status copy_sized(T &to, const T *from, const char *name) noexcept {
    const rownorm_status status = check_size(from, name);
    if (!status)
        std::memcpy(&to, from, sizeof to);
    return status;
}

} // namespace rownorm
