// SPDX-License-Identifier: Apache-2.0
//
// What there is to measure: the tables of ops, type mixes and shapes. A new line here is a new row of
// benchmarks.
#pragma once

#include <rownorm/rownorm.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rownorm_bench {

struct Op {
    const char *name;
    rownorm_op op;
    bool residual; // s = x + residual is written back in place of the residual
    bool bias;
    double p; // partial RMSNorm's share of the row, otherwise 0
};

struct Mix {
    const char *name;
    rownorm_type x, y, weight; // a residual has the type of x
};

struct Shape {
    std::int64_t rows, cols;
    bool operator==(const Shape &) const = default;
};

// Where the rows lie when they are read.
enum class Place {
    repeated,    // the same buffers each time: in the smallest cache that holds them all
    cold_weight, // rows as above; the gain and the bias come from memory, as in decoding with a large model
    memory,      // everything comes from memory
    consumed,    // as repeated, and y is read after each run, as whoever normalises does
    slices,      // as repeated, but each row is the first third of a longer one, in x and in y
};

struct Cell {
    const Op *op;
    const Mix *mix;
    Shape shape;
    Place place;
    unsigned threads;
};

std::span<const Op> ops();
std::span<const Mix> mixes();
const char *name_of(Place place);

// How far the rows of x and y lie apart, in rows.
constexpr std::int64_t stride_of(Place place) { return place == Place::slices ? 3 : 1; }

// The shapes of "decode", "prefill", "heads", "others", "all" or "ROWSxCOLS"; none for another word.
std::vector<Shape> shapes_named(const std::string &name);

std::size_t element_bytes(rownorm_type type);

// "rms_norm/bf16/avx2/rows:64/cols:4096/threads:1"; a place other than `repeated` is named at the end.
std::string name_of(const Cell &cell, const std::string &contestant);

rownorm_descriptor descriptor_of(const Cell &cell, const char *isa);

} // namespace rownorm_bench
