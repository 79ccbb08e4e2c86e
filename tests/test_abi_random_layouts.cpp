// SPDX-License-Identifier: Apache-2.0
//
// Random layouts in a small block of memory: accepted if, and only if, the rules allow them, judged here
// byte by byte; and then with the bits of the dense layout.
#include "broken.hpp"
#include "formats.hpp"
#include "layout_model.hpp"
#include "random.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <optional>
#include <sstream>

using namespace rownorm_test;

namespace {

constexpr std::int64_t block_bytes = 4096;

class Draw {
public:
    explicit Draw(std::uint64_t seed) : random_(seed) {
        c_.n = 1 + static_cast<std::int64_t>(random_.below(5));
        c_.op = ROWNORM_LAYER_NORM;
        c_.eps = 1e-3;
        c_.seed = seed;
        constexpr Extent shapes[] = {{1, 1, 1}, {1, 1, 4}, {1, 3, 2}, {2, 2, 2}, {3, 1, 1}, {2, 1, 3}};
        extent_ = shapes[random_.below(6)];
        c_.rows = extent_[0] * extent_[1] * extent_[2];
        constexpr rownorm_type types[] = {ROWNORM_F32, ROWNORM_F16, ROWNORM_BF16};
        for (rownorm_type *type : {&c_.mix.x, &c_.mix.y, &c_.mix.residual, &c_.mix.weight})
            *type = types[random_.below(2) == 0 ? 0 : random_.below(3)];
        c_.residual = random_.below(2) == 0;
        c_.gain = random_.below(2) == 0;
        c_.bias = random_.below(2) == 0;
        layout_[0] = argument(c_.mix.x, false, true);
        layout_[1] = argument(c_.mix.y, true, false);
        if (c_.residual)
            layout_[2] = argument(c_.mix.residual, false, true);
        if (c_.residual && random_.below(2) == 0)
            layout_[3] = argument(c_.mix.residual, true, false);
        if (layout_[3] && random_.below(2) == 0)
            put_over_residual();
        if (c_.gain)
            layout_[4] = argument(c_.mix.weight, false, false);
        if (c_.bias)
            layout_[5] = argument(c_.mix.weight, false, false);
    }

    const Case &description() const { return c_; }
    const Layout &layout() const { return layout_; }
    const Extent &extent() const { return extent_; }

private:
    /// As most calls have it: the sum is written back; now and then by strides of its own.
    void put_over_residual() {
        layout_[3]->base = layout_[2]->base;
        layout_[3]->stride = layout_[2]->stride;
        if (random_.below(4) == 0)
            layout_[3]->stride[random_.below(3)] += static_cast<std::int64_t>(size_of(c_.mix.residual));
    }

    /// Near the others, or in a part of the block of its own; strides that nest, and others.
    Argument argument(rownorm_type type, bool output, bool may_be_alias) {
        Argument a;
        a.type = type;
        a.output = output;
        a.may_be_alias = may_be_alias;
        const auto size = static_cast<std::int64_t>(size_of(type));
        a.row_bytes = c_.n * size;
        const std::uint64_t place = random_.below(4);
        if (place == 0 && layout_[0]) {
            a.base = layout_[0]->base;
            a.stride = layout_[0]->stride;
            for (std::int64_t &stride : a.stride)
                stride -= stride % size;
        } else {
            a.base = place < 3 ? 600 * ++parts_ : static_cast<std::int64_t>(random_.below(60)) * 4;
            set_strides(a, size);
        }
        a.base -= a.base % size;
        return a;
    }

    void set_strides(Argument &a, std::int64_t size) {
        std::int64_t reach = a.row_bytes + static_cast<std::int64_t>(random_.below(3)) * size;
        for (const std::size_t d : {2U, 1U, 0U}) {
            a.stride[d] = random_.below(8) == 0 ? static_cast<std::int64_t>(random_.below(12)) * size : reach;
            reach = a.stride[d] * extent_[d] + static_cast<std::int64_t>(random_.below(2)) * size;
        }
    }

    Random random_;
    Case c_;
    Extent extent_{};
    Layout layout_;
    std::int64_t parts_ = 0;
};

std::string describe(const Draw &draw) {
    std::ostringstream out;
    out << rownorm_test::describe(draw.description()) << "\n  extent " << draw.extent()[0] << "x" << draw.extent()[1]
        << "x" << draw.extent()[2];
    for (std::size_t i = 0; i < draw.layout().size(); ++i)
        if (const auto &a = draw.layout()[i])
            out << "; " << argument_names[i] << " at " << a->base << " by " << a->stride[0] << "," << a->stride[1]
                << "," << a->stride[2];
    return out.str();
}

void copy_rows(const Argument &a, const Extent &extent, std::byte *block, std::vector<std::byte> &dense, bool into) {
    std::size_t row = 0;
    for (const std::int64_t at : a.rows(extent)) {
        std::byte *const from = dense.data() + row++ * static_cast<std::size_t>(a.row_bytes);
        std::memcpy(into ? block + at : from, into ? from : block + at, static_cast<std::size_t>(a.row_bytes));
    }
}

/// The arguments as dense rows, read back from the block, so that rows that share memory are what they are.
Inputs fill(const Draw &draw, std::byte *block) {
    Inputs in = make_inputs(draw.description());
    const auto spread = [&](std::vector<std::byte> &one) { // w and b: a row of their own for every row of x
        std::vector<std::byte> all;
        for (std::int64_t r = 0; r < draw.description().rows; ++r)
            all.insert(all.end(), one.begin(), one.end());
        one = all;
    };
    spread(in.w);
    spread(in.b);
    std::vector<std::byte> *const dense[] = {&in.x, nullptr, &in.residual, nullptr, &in.w, &in.b};
    for (const bool into : {true, false})
        for (std::size_t i = 0; i < 6; ++i)
            if (dense[i] != nullptr && draw.layout()[i])
                copy_rows(*draw.layout()[i], draw.extent(), block, *dense[i], into);
    return in;
}

rownorm_io io_of(const Draw &draw, std::byte *block) {
    rownorm_io io = {};
    io.struct_size = sizeof io;
    std::copy(draw.extent().begin(), draw.extent().end(), io.extent);
    rownorm_input *const inputs[] = {&io.x, nullptr, &io.residual, nullptr, &io.w, &io.b};
    rownorm_output *const outputs[] = {nullptr, &io.y, nullptr, &io.residual_out, nullptr, nullptr};
    for (std::size_t i = 0; i < 6; ++i)
        if (const auto &a = draw.layout()[i]) {
            if (inputs[i] != nullptr)
                *inputs[i] = {block + a->base, {a->stride[0], a->stride[1], a->stride[2]}};
            else
                *outputs[i] = {block + a->base, {a->stride[0], a->stride[1], a->stride[2]}};
        }
    return io;
}

/// y of each row from a call of its own, in dense memory.
std::vector<std::byte> rows_apart(const Draw &draw, const Inputs &in) {
    Case one = draw.description();
    one.rows = 1;
    const auto part = [&](const std::vector<std::byte> &all, std::int64_t row) {
        const auto bytes = static_cast<std::ptrdiff_t>(all.size()) / draw.description().rows;
        return std::vector<std::byte>(all.begin() + row * bytes, all.begin() + (row + 1) * bytes);
    };
    std::vector<std::byte> y;
    for (std::int64_t r = 0; r < draw.description().rows; ++r) {
        const Inputs row{part(in.x, r), part(in.residual, r), part(in.w, r), part(in.b, r)};
        const std::vector<std::byte> mine = run(one, row).y;
        y.insert(y.end(), mine.begin(), mine.end());
    }
    return y;
}

/// Whether the layout was legal.
bool check_draw(std::uint64_t seed) {
    const Draw draw(seed);
    std::vector<std::max_align_t> memory(block_bytes / sizeof(std::max_align_t));
    auto *const block = reinterpret_cast<std::byte *>(memory.data());
    const Inputs in = fill(draw, block);
    const std::vector<std::byte> before(block, block + block_bytes);
    const rownorm_descriptor d = descriptor_of(draw.description());
    const rownorm_io io = io_of(draw, block);
    const Plan plan(d);
    const bool legal = is_legal(draw.layout(), draw.extent());
    const rownorm_status status = rownorm_execute(plan, &io);
    INFO(describe(draw));
    CHECK(status == (legal ? ROWNORM_OK : ROWNORM_INVALID_ARGUMENT));
    if (status == ROWNORM_OK && legal) {
        std::vector<std::byte> y(static_cast<std::size_t>(draw.description().rows * draw.layout()[1]->row_bytes));
        copy_rows(*draw.layout()[1], draw.extent(), block, y, false);
        CHECK(difference(draw.description().mix.y, rows_apart(draw, in), y, "y") == "");
    } else if (status != ROWNORM_OK) {
        CHECK(std::equal(before.begin(), before.end(), block));
    }
    return legal;
}

} // namespace

TEST_SUITE("ABI: overlap") {
    TEST_CASE("random layouts: accepted if and only if legal, with the bits of the dense one") {
        const int count = scaled(20000);
        int legal = 0;
        for (int seed = 1; seed <= count; ++seed)
            legal += check_draw(static_cast<std::uint64_t>(seed)) ? 1 : 0;
        CHECK(legal >= count / 5);
        CHECK(legal <= count * 4 / 5);
    }
}
