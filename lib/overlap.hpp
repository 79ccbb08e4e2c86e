// SPDX-License-Identifier: Apache-2.0
// Do two sets of strided rows share a byte?
#pragma once

#include <cstdint>

namespace rownorm {

// extent[0] x extent[1] x extent[2] rows of row_bytes bytes, strides >= 0.
struct Block {
    uint64_t address;
    int64_t row_bytes;
    int64_t stride[3];
    int64_t extent[3];

    // One past the last byte.
    uint64_t end() const {
        uint64_t last = address;
        for (int d = 0; d < 3; d++)
            last += uint64_t(stride[d]) * uint64_t(extent[d] - 1);
        return last + uint64_t(row_bytes);
    }
};

enum class Overlap { kNone, kSome, kUnknown };

// Exact, but kUnknown when strides that do not nest would need a long search.
Overlap overlap(const Block &a, const Block &b) noexcept;

// Between different rows of one block.
Overlap self_overlap(const Block &a) noexcept;

} // namespace rownorm
