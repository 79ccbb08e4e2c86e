// SPDX-License-Identifier: Apache-2.0
#include "cells.hpp"

#include <charconv>

namespace rownorm_bench {

namespace {

constexpr Op op_table[] = {
    {"rms_norm", ROWNORM_RMS_NORM, false, false, 0},
    {"partial_rms_norm", ROWNORM_RMS_NORM, false, false, 0.0625}, // the paper's p = 6.25 %
    {"add_rms_norm", ROWNORM_RMS_NORM, true, false, 0},
    {"layer_norm", ROWNORM_LAYER_NORM, false, true, 0},
    {"l2_norm", ROWNORM_L2_NORM, false, false, 0},
};

constexpr Mix mix_table[] = {
    {"f32", ROWNORM_F32, ROWNORM_F32, ROWNORM_F32},
    {"f16", ROWNORM_F16, ROWNORM_F16, ROWNORM_F16},
    {"bf16", ROWNORM_BF16, ROWNORM_BF16, ROWNORM_BF16},
    {"bf16_w_f32", ROWNORM_BF16, ROWNORM_BF16, ROWNORM_F32}, // the Gemma family
    {"f32_y_bf16", ROWNORM_F32, ROWNORM_BF16, ROWNORM_F32},  // an f32 residual stream before a bf16 product
    {"f64", ROWNORM_F64, ROWNORM_F64, ROWNORM_F64},
};

constexpr Shape decode[] = {{1, 896}, {1, 4096}, {1, 16384}};
constexpr Shape prefill[] = {{64, 4096}, {512, 4096}, {4096, 8192}};
constexpr Shape heads[] = {{8, 128}, {32, 128}, {1024, 64}, {1024, 128}, {1024, 256}};
// Between and beside those: small, odd, sizes of models, one huge row.
constexpr Shape others[] = {{1, 128},   {1, 576},   {1, 1536}, {1, 2048},   {1, 7168},    {1, 65536},  {1, 1 << 20},
                            {77, 1023}, {77, 1025}, {8, 2048}, {128, 5120}, {2048, 4096}, {16384, 768}};

struct Group {
    const char *name;
    std::span<const Shape> shapes;
};
constexpr Group groups[] = {{"decode", decode}, {"prefill", prefill}, {"heads", heads}, {"others", others}};

bool parse_shape(const std::string &text, Shape &shape) {
    const char *end = text.data() + text.size();
    const auto [middle, rows_error] = std::from_chars(text.data(), end, shape.rows);
    if (rows_error != std::errc() || middle == end || *middle != 'x')
        return false;
    const auto [last, cols_error] = std::from_chars(middle + 1, end, shape.cols);
    return cols_error == std::errc() && last == end && shape.rows > 0 && shape.cols > 0;
}

} // namespace

std::span<const Op> ops() { return op_table; }
std::span<const Mix> mixes() { return mix_table; }

const char *name_of(Place place) {
    switch (place) {
    case Place::cold_weight:
        return "cold_weight";
    case Place::consumed:
        return "consumed";
    case Place::slices:
        return "slices";
    case Place::memory:
        return "memory";
    default:
        return "repeated";
    }
}

std::vector<Shape> shapes_named(const std::string &name) {
    std::vector<Shape> found;
    for (const Group &group : groups)
        if (name == group.name || name == "all")
            for (const Shape &shape : group.shapes)
                found.push_back(shape);
    Shape one{};
    if (parse_shape(name, one))
        found.push_back(one);
    return found;
}

std::size_t element_bytes(rownorm_type type) {
    switch (type) {
    case ROWNORM_F64:
        return 8;
    case ROWNORM_F32:
        return 4;
    default:
        return 2;
    }
}

std::string name_of(const Cell &cell, const std::string &contestant) {
    std::string name = std::string(cell.op->name) + "/" + cell.mix->name + "/" + contestant +
                       "/rows:" + std::to_string(cell.shape.rows) + "/cols:" + std::to_string(cell.shape.cols) +
                       "/threads:" + std::to_string(cell.threads);
    if (cell.place != Place::repeated)
        name += std::string("/from:") + name_of(cell.place);
    return name;
}

rownorm_descriptor descriptor_of(const Cell &cell, const char *isa) {
    rownorm_descriptor d = {};
    d.struct_size = sizeof d;
    d.op = cell.op->op;
    d.x_type = cell.mix->x;
    d.y_type = cell.mix->y;
    d.weight_type = cell.mix->weight;
    d.n = cell.shape.cols;
    d.p = cell.op->p;
    d.eps = 1e-6;
    d.max_threads = cell.threads;
    d.isa = isa;
    return d;
}

} // namespace rownorm_bench
