// SPDX-License-Identifier: Apache-2.0
//
// A call of the C ABI drawn from a fuzzer's input: mostly near what is legal, in one small block of memory,
// with what the rules say of it.
#pragma once

#include "../case.hpp"
#include "../layout_model.hpp"
#include "bytes.hpp"

#include <string>

namespace fuzz {

enum class Way { execute, parts, executor, one_line };

/// What the rules say of a call.
enum class Ruling {
    accepted,
    refused,
    beyond ///< legal, but in memory that is not there: cannot be tried
};

constexpr std::int64_t block_bytes = 16384;

/// A struct and what a caller of a later version may have behind it.
template <class T>
struct Sized {
    T value{};
    std::uint64_t tail[2] = {};
};

struct Call {
    explicit Call(Bytes &in);

    Sized<rownorm_descriptor> descriptor;
    Sized<rownorm_io> io; ///< without pointers and strides: those are of a block
    rownorm_test::Layout layout;
    rownorm_test::Extent extent{1, 1, 1};
    Way way = Way::execute;
    std::int64_t parts = 1;

    /// The descriptor as a case of one row; to be asked only of an accepted one.
    rownorm_test::Case row_case() const;
    rownorm_io io_in(std::byte *block) const;
    /// At most `most_rows`, which is more than the block holds.
    std::int64_t rows() const;
    static constexpr std::int64_t most_rows = 4096;

private:
    void draw_descriptor(Bytes &in);
    void draw_numbers(Bytes &in);
    void draw_structs(Bytes &in);
    void draw_extent(Bytes &in);
    void draw_layout(Bytes &in);
    void make_one_line(Bytes &in);
    void place(Bytes &in, rownorm_test::Argument &a);
    rownorm_type type_of(std::size_t argument) const;
};

/// Of the descriptor; `beyond` for rows too long to be in memory.
Ruling rule_descriptor(const Call &call);
/// Of the io, with a legal descriptor.
Ruling rule_io(const Call &call);

std::string describe(const Call &call);

} // namespace fuzz
