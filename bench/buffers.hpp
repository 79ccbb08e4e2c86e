// SPDX-License-Identifier: Apache-2.0
//
// The memory that a cell works on, and the order in which its copies take turns.
#pragma once

#include "cells.hpp"

#include <cstddef>

namespace rownorm_bench {

struct Arguments {
    std::byte *x, *residual, *y, *w, *b;
};

struct Sizes {
    std::size_t x, y, weight; // bytes of the rows of x (or residual), of y, and of one gain or bias
};
Sizes sizes_of(const Cell &cell);

// Bytes that a run of the cell must at least read and write: each argument once.
std::size_t bytes_moved(const Cell &cell);

// All bytes that a run touches, which decides where repeated runs find them.
std::size_t bytes_touched(const Cell &cell);

// Hands out the arguments run by run. The buffers are shared by all cells and live as long as the process:
// huge pages, filled with numbers that are harmless in every type.
class Rotation {
public:
    explicit Rotation(const Cell &cell);

    Arguments next() {
        const Arguments now = at_;
        advance();
        return now;
    }

    std::size_t row_sets() const { return row_sets_; }
    std::size_t weight_sets() const { return weight_sets_; }

private:
    void advance();

    Sizes strides_;
    std::size_t row_sets_, weight_sets_, row_set_ = 0, weight_set_ = 0;
    Arguments begin_, at_;
};

} // namespace rownorm_bench
