// SPDX-License-Identifier: Apache-2.0
#include "abi_call.hpp"

#include <algorithm>
#include <limits>

namespace fuzz {

using namespace rownorm_test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t largest_int = std::numeric_limits<std::int64_t>::max();

} // namespace

Call::Call(Bytes &in) {
    draw_descriptor(in);
    draw_numbers(in);
    draw_structs(in);
    draw_extent(in);
    way = static_cast<Way>(in.below(4));
    parts = 1 + in.below(9);
    if (way == Way::one_line)
        make_one_line(in);
    draw_layout(in);
}

void Call::draw_descriptor(Bytes &in) {
    rownorm_descriptor &d = descriptor.value;
    d.struct_size = sizeof d;
    const bool odd = in.chance(32);
    d.op = odd ? in.take<std::uint8_t>() : 1 + in.below(3);
    const bool f64 = in.chance(6);
    const auto type = [&] { return odd ? in.below(7) : f64 ? 4 : 1 + in.below(3); };
    d.x_type = type();
    d.residual_type = in.chance(3) ? 0 : type();
    d.y_type = in.chance(3) ? 0 : type();
    d.weight_type = in.chance(3) ? 0 : type();
    d.round_before_weight = f64 && !odd ? 0 : in.chance(6) ? in.below(odd ? 5 : 3) : 0;
    d.l2_eps = d.op == ROWNORM_L2_NORM || odd ? in.below(odd ? 6 : 4) : 0;
    d.max_threads = in.below(3);
}

void Call::draw_numbers(Bytes &in) {
    rownorm_descriptor &d = descriptor.value;
    constexpr double eps[] = {1e-5, 0, 1e-12, 1, 1e-40, 1e10, 3e38, -0.0, 1e308, 3.5e38, -1, infinity, not_a_number};
    constexpr double offsets[] = {0, 1, -0.0, -1, 0.5, 1e30, 1e-30, 1e300, infinity, not_a_number};
    constexpr std::int64_t lengths[] = {0, -1, std::int64_t(1) << 40, largest_int / 16, largest_int / 8, largest_int};
    d.eps = eps[in.below(in.chance(16) ? 13 : 7)];
    d.weight_offset = offsets[in.below(in.chance(16) ? 10 : 5)];
    d.n = 1 + in.below(in.chance(8) ? 255 : 40);
    if (in.chance(8))
        d.n *= 4;
    if (in.chance(64))
        d.n = in.pick(lengths);
    const bool partial = d.op == ROWNORM_RMS_NORM ? in.chance(4) : in.chance(64);
    if (partial && in.chance(2))
        d.k = in.chance(8) ? in.take<std::int64_t>() : 1 + in.below(40);
    if (partial && (d.k == 0 || in.chance(8)))
        d.p = in.chance(4) ? in.take<double>() : 1.0 / (1 + in.below(20));
}

void Call::draw_structs(Bytes &in) {
    const auto size = [&](std::uint32_t right) {
        constexpr std::int32_t off[] = {8, 16, -8, -1, 1 << 20};
        return in.chance(32) ? right + static_cast<std::uint32_t>(in.pick(off)) : right;
    };
    descriptor.value.struct_size = size(sizeof(rownorm_descriptor));
    descriptor.tail[in.below(2)] = in.chance(32) ? in.take<std::uint64_t>() : 0;
    descriptor.value.flags = in.chance(64) ? in.take<std::uint8_t>() : 0;
    io.value.struct_size = size(sizeof(rownorm_io));
    io.tail[in.below(2)] = in.chance(32) ? in.take<std::uint64_t>() : 0;
    io.value.flags = in.chance(64) ? in.take<std::uint8_t>() : 0;
}

void Call::draw_extent(Bytes &in) {
    constexpr std::int64_t odd[] = {0, -1, std::int64_t(1) << 31, std::int64_t(1) << 40, largest_int, 70};
    for (std::int64_t &e : extent) {
        e = in.chance(3) ? 1 : 1 + in.below(4);
        if (in.chance(64))
            e = in.pick(odd);
    }
    if (in.chance(8))
        extent = {1, 1, 1 + in.below(40)};
}

rownorm_type Call::type_of(std::size_t argument) const {
    const rownorm_descriptor &d = descriptor.value;
    const rownorm_type statistic = d.x_type == ROWNORM_F64 ? ROWNORM_F64 : ROWNORM_F32;
    const rownorm_type types[] = {d.x_type,      d.y_type,      d.residual_type, d.residual_type,
                                  d.weight_type, d.weight_type, statistic,       statistic};
    return types[argument] != ROWNORM_TYPE_AS_X ? types[argument] : d.x_type;
}

/// One type, default ISA, dense rows: what a one-line call can say.
void Call::make_one_line(Bytes &in) {
    rownorm_descriptor &d = descriptor.value;
    const rownorm_descriptor was = d;
    d = {};
    d.struct_size = sizeof d;
    d.op = was.op == ROWNORM_LAYER_NORM ? ROWNORM_LAYER_NORM : ROWNORM_RMS_NORM;
    d.x_type = 1 + in.below(3);
    d.n = was.n;
    d.eps = was.eps;
    descriptor.tail[0] = descriptor.tail[1] = io.tail[0] = io.tail[1] = 0;
    io.value.struct_size = sizeof(rownorm_io);
    io.value.flags = 0;
    extent[0] = extent[1] = 1;
}

void Call::draw_layout(Bytes &in) {
    const bool one_line = way == Way::one_line, layer = descriptor.value.op == ROWNORM_LAYER_NORM;
    const bool adds = one_line ? !layer && in.chance(2) : in.chance(2);
    const bool present[] = {!in.chance(64),
                            !in.chance(64),
                            adds,
                            one_line ? adds : in.chance(adds ? 2 : 64),
                            in.chance(2),
                            (!one_line || layer) && in.chance(3),
                            !one_line && in.chance(layer ? 3 : 64),
                            !one_line && in.chance(3)};
    for (std::size_t i = 0; i < layout.size(); ++i) {
        if (!present[i])
            continue;
        Argument &a = layout[i].emplace();
        a.type = type_of(i);
        if (a.type < ROWNORM_F32 || a.type > ROWNORM_F64)
            a.type = ROWNORM_F32; // the descriptor is refused
        a.output = i == 1 || i == 3 || i >= 6;
        a.may_be_alias = i == 0 || i == 2;
        a.one_block = i >= 6;
        const auto size = static_cast<std::int64_t>(size_of(a.type));
        a.row_bytes = size * std::clamp<std::int64_t>(a.one_block ? rows() : descriptor.value.n, 0, 4096);
        place(in, a);
        if (one_line && i == 3) // the residual itself
            layout[3]->base = layout[2]->base;
        if (one_line)
            a.stride = {0, 0, i == 4 || i == 5 ? 0 : a.row_bytes};
    }
}

/// Where another one lies, in a part of the block of its own, or anywhere; strides that nest, and others.
void Call::place(Bytes &in, Argument &a) {
    const auto size = static_cast<std::int64_t>(size_of(a.type));
    const unsigned where = in.below(8);
    const auto &other = layout[where == 0 ? 0 : where == 1 ? 2 : 1];
    if (where < 3 && other && &*other != &a) {
        a.base = other->base + (in.chance(4) ? size * (static_cast<std::int64_t>(in.below(9)) - 4) : 0);
        a.stride = other->stride;
    } else {
        a.base = where < 7 ? 256 * static_cast<std::int64_t>(in.below(64)) : in.take<std::uint16_t>() % block_bytes;
        std::int64_t reach = a.row_bytes + size * static_cast<std::int64_t>(in.below(4));
        for (const std::size_t d : {2U, 1U, 0U}) {
            a.stride[d] = in.chance(12) ? size * static_cast<std::int64_t>(in.below(20)) : reach;
            reach = a.stride[d] * std::clamp<std::int64_t>(extent[d], 0, 64);
        }
        a.base -= a.base % size;
    }
    constexpr std::int64_t odd[] = {-8, 1, 3, 2, std::int64_t(1) << 60, largest_int - 7, -largest_int - 1};
    if (in.chance(64))
        a.stride[in.below(3)] = in.pick(odd);
    if (in.chance(64))
        a.base += 1 + in.below(3);
}

std::int64_t Call::rows() const {
    std::int64_t product = 1;
    for (const std::int64_t e : extent)
        product = std::min(most_rows, product * std::clamp<std::int64_t>(e, 0, most_rows));
    return product;
}

Case Call::row_case() const {
    const rownorm_descriptor &d = descriptor.value;
    Case c;
    c.op = d.op;
    c.mix = {type_of(0), type_of(2), type_of(1), type_of(4)};
    c.n = d.n;
    c.k = d.k;
    c.p = d.p;
    c.eps = d.eps == 0 ? 0 : d.eps; // -0 counts as 0
    c.weight_offset = d.weight_offset;
    c.l2_eps = d.l2_eps;
    c.round = d.round_before_weight;
    c.residual = layout[2].has_value();
    c.gain = layout[4].has_value();
    c.bias = layout[5].has_value();
    return c;
}

rownorm_io Call::io_in(std::byte *block) const {
    rownorm_io to = io.value;
    std::copy(extent.begin(), extent.end(), to.extent);
    rownorm_input *const inputs[] = {&to.x, nullptr, &to.residual, nullptr, &to.w, &to.b, nullptr, nullptr};
    rownorm_output *const outputs[] = {nullptr, &to.y, nullptr, &to.residual_out, nullptr, nullptr, nullptr, nullptr};
    for (std::size_t i = 0; i < layout.size(); ++i) {
        if (!layout[i])
            continue;
        const Argument &a = *layout[i];
        if (inputs[i] != nullptr)
            *inputs[i] = {block + a.base, {a.stride[0], a.stride[1], a.stride[2]}};
        else if (outputs[i] != nullptr)
            *outputs[i] = {block + a.base, {a.stride[0], a.stride[1], a.stride[2]}};
        else
            (i == 6 ? to.mean : to.rstd) = block + a.base;
    }
    return to;
}

} // namespace fuzz
