// SPDX-License-Identifier: Apache-2.0
#include "batches.hpp"

#include "../formats.hpp"

#define DOCTEST_CONFIG_IMPLEMENT // the kit's run.cpp reports through it, though nothing here does
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

namespace soak {

using namespace rownorm_test;

namespace {

constexpr std::int64_t most_gap = 5; ///< elements between rows

Case make_case(int which) {
    Case c;
    c.rows = Batches::pool_rows;
    c.gain = true;
    c.eps = 1e-5;
    c.seed = static_cast<std::uint64_t>(which) + 1;
    set_formula(c, which == 0 ? 0 : which == 1 ? 2 : 3);
    c.n = which == 0 ? 1536 : which == 1 ? 769 : 64;
    c.residual = which < 2;
    c.bias = which == 1;
    c.data = which == 2 ? Data::tiny : Data::normal; // rows that are redone, too
    if (which == 1)
        c.mix = {ROWNORM_BF16, ROWNORM_F32, ROWNORM_BF16, ROWNORM_F32};
    if (which == 2)
        c.mix = {ROWNORM_F16, ROWNORM_F16, ROWNORM_F32, ROWNORM_F16};
    return c;
}

/// FNV-1a over the bits of a row, every NaN counting as one.
std::uint64_t hash(rownorm_type type, const std::byte *row, std::int64_t n) {
    std::uint64_t h = 0xcbf29ce484222325ULL;
    for (std::int64_t i = 0; i < n; ++i)
        h = (h ^ canonical_bits(type, row + static_cast<std::size_t>(i) * size_of(type))) * 0x100000001b3ULL;
    return h;
}

std::vector<std::uint64_t> hashes(rownorm_type type, const std::vector<std::byte> &rows, std::int64_t n) {
    std::vector<std::uint64_t> all;
    for (std::size_t at = 0; at < rows.size(); at += static_cast<std::size_t>(n) * size_of(type))
        all.push_back(hash(type, rows.data() + at, n));
    return all;
}

} // namespace

/// A window of the pool: rows `first` on, in two dimensions, with gaps between the rows of the outputs.
struct Batches::Layout {
    std::int64_t first, outer, inner, y_gap, sum_gap;
    std::int64_t rows() const { return outer * inner; }
};

Buffers::Buffers(const std::array<Batches, 3> &plans) {
    for (const Batches &plan : plans)
        y.resize(std::max(y.size(), plan.most_bytes()));
    sum.resize(y.size());
}

Batches::Batches(int which) : case_(make_case(which)), in_(make_inputs(case_)) {
    rownorm_descriptor d = descriptor_of(case_);
    d.max_threads = 1;
    const Plan serial(d);
    std::vector<std::byte> y(most_bytes()), sum(most_bytes());
    rownorm_io io = rownorm_dense_io(&d, case_.rows);
    io.x.data = in_.x.data();
    io.residual.data = case_.residual ? in_.residual.data() : nullptr;
    io.w.data = in_.w.data();
    io.b.data = case_.bias ? in_.b.data() : nullptr;
    io.y.data = y.data();
    io.residual_out.data = case_.residual ? sum.data() : nullptr;
    if (rownorm_execute(serial, &io) != ROWNORM_OK)
        std::abort();
    y.resize(static_cast<std::size_t>(case_.rows * case_.n) * size_of(case_.mix.y));
    sum.resize(static_cast<std::size_t>(case_.rows * case_.n) * size_of(case_.mix.residual));
    y_hash_ = hashes(case_.mix.y, y, case_.n);
    sum_hash_ = hashes(case_.mix.residual, sum, case_.n);
    d.max_threads = 0;
    plan_ = std::make_unique<Plan>(d);
}

std::size_t Batches::most_bytes() const { return static_cast<std::size_t>(pool_rows * (case_.n + most_gap) * 4); }

std::string Batches::run_one(Random &random, Buffers &buffers) const {
    const auto below = [&](std::int64_t bound) {
        return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(bound)));
    };
    Layout layout{};
    const std::int64_t rows = 1 + below(random.below(3) == 0 ? pool_rows : 12);
    layout.inner = 1 + below(std::min<std::int64_t>(rows, 7));
    layout.outer = std::max<std::int64_t>(rows / layout.inner, 1);
    layout.first = below(pool_rows - layout.rows() + 1);
    layout.y_gap = below(most_gap + 1);
    layout.sum_gap = below(most_gap + 1);
    const rownorm_io io = io_of(layout, buffers);
    constexpr How ways[] = {How::execute, How::execute, How::parts, How::executor};
    const rownorm_status status = run_plan(*plan_, io, ways[random.below(4)], 1 + below(5));
    return status == ROWNORM_OK ? compare(layout, buffers) : rownorm_last_error();
}

rownorm_io Batches::io_of(const Layout &layout, Buffers &buffers) const {
    const rownorm_descriptor d = descriptor_of(case_);
    rownorm_io io = rownorm_dense_io(&d, layout.rows());
    io.extent[1] = layout.outer;
    io.extent[2] = layout.inner;
    io.extent[0] = 1;
    const auto place = [&](auto &tensor, auto *data, rownorm_type type, std::int64_t gap, std::int64_t first) {
        const std::int64_t stride = (case_.n + gap) * static_cast<std::int64_t>(size_of(type));
        tensor.data = data + first * stride;
        tensor.stride_bytes[2] = stride;
        tensor.stride_bytes[1] = stride * layout.inner;
    };
    place(io.x, in_.x.data(), case_.mix.x, 0, layout.first);
    place(io.y, buffers.y.data(), case_.mix.y, layout.y_gap, 0);
    if (case_.residual) {
        place(io.residual, in_.residual.data(), case_.mix.residual, 0, layout.first);
        place(io.residual_out, buffers.sum.data(), case_.mix.residual, layout.sum_gap, 0);
    }
    io.w.data = in_.w.data();
    io.b.data = case_.bias ? in_.b.data() : nullptr;
    return io;
}

std::string Batches::compare(const Layout &layout, const Buffers &buffers) const {
    const auto row_of = [&](const std::vector<std::byte> &of, rownorm_type type, std::int64_t gap, std::int64_t row) {
        return of.data() + static_cast<std::size_t>(row * (case_.n + gap)) * size_of(type);
    };
    for (std::int64_t r = 0; r < layout.rows(); ++r) {
        const auto at = static_cast<std::size_t>(layout.first + r);
        if (hash(case_.mix.y, row_of(buffers.y, case_.mix.y, layout.y_gap, r), case_.n) != y_hash_[at])
            return "row " + std::to_string(r) + " of " + std::to_string(layout.rows()) + " has other bits";
        if (case_.residual && hash(case_.mix.residual, row_of(buffers.sum, case_.mix.residual, layout.sum_gap, r),
                                   case_.n) != sum_hash_[at])
            return "sum of row " + std::to_string(r) + " has other bits";
    }
    return {};
}

} // namespace soak
