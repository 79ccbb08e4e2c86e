// SPDX-License-Identifier: Apache-2.0
#include "case.hpp"

#include "formats.hpp"
#include "random.hpp"

#include <cmath>
#include <cstdlib>
#include <sstream>

namespace rownorm_test {
namespace {

constexpr rownorm_type narrow_types[] = {ROWNORM_F32, ROWNORM_F16, ROWNORM_BF16};

/// What a kind of data looks like in a type: value = center + spread * normal.
struct Shape {
    double center = 0, spread = 1;
};

double power(int exponent) { return std::ldexp(1.0, exponent); }

Shape offset_shape(rownorm_type type) {
    if (type == ROWNORM_F16)
        return {512, 4};
    if (type == ROWNORM_BF16)
        return {64, 2};
    return type == ROWNORM_F64 ? Shape{1e8, 1} : Shape{1e4, 1};
}

Shape shape_of(Data data, rownorm_type type) {
    const bool f16 = type == ROWNORM_F16, f64 = type == ROWNORM_F64;
    switch (data) {
    case Data::offset:
        return offset_shape(type);
    case Data::massive:
        return {0, 0.5};
    case Data::tiny:
        return {0, power(f64 ? -1000 : (f16 ? -16 : -100))};
    case Data::huge: // the sum with a residual stays finite
        return {0, power(f64 ? 1020 : (f16 ? 13 : 124))};
    case Data::subnormal:
        return {0, power(f64 ? -1060 : (f16 ? -20 : -132))};
    default:
        return {0, 2};
    }
}

double element(Data data, const Shape &shape, Random &random) {
    if (data == Data::lognormal) {
        const auto exponent = static_cast<int>(4 * random.normal());
        return std::ldexp(random.uniform(), exponent);
    }
    if (data == Data::sparse && random.below(16) != 0)
        return 0;
    return shape.center + shape.spread * random.normal();
}

std::vector<std::byte> make_rows(const Case &c, rownorm_type type, std::uint64_t seed) {
    const Shape shape = shape_of(c.data, type);
    std::vector<std::byte> bytes(static_cast<std::size_t>(c.rows * c.n) * size_of(type));
    std::byte *at = bytes.data();
    for (std::int64_t row = 0; row < c.rows; ++row) {
        Random random(seed + 1000003 * static_cast<std::uint64_t>(row));
        const double same = element(Data::normal, shape, random);
        const auto peak = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(c.n)));
        for (std::int64_t i = 0; i < c.n; ++i, at += size_of(type)) {
            double value = c.data == Data::constant ? same : element(c.data, shape, random);
            if (c.data == Data::massive && i == peak)
                value = 24000;
            store(type, at, static_cast<long double>(value));
        }
    }
    return bytes;
}

std::vector<std::byte> make_weight(const Case &c, double center, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::byte> bytes(static_cast<std::size_t>(c.n) * size_of(c.mix.weight));
    for (std::byte *at = bytes.data(); at != bytes.data() + bytes.size(); at += size_of(c.mix.weight))
        store(c.mix.weight, at, static_cast<long double>(center + 0.5 * random.normal()));
    return bytes;
}

} // namespace

std::vector<Mix> every_mix(bool with_residuals) {
    std::vector<Mix> mixes;
    for (rownorm_type x : narrow_types)
        for (rownorm_type residual : narrow_types)
            for (rownorm_type y : narrow_types)
                for (rownorm_type weight : narrow_types)
                    if (with_residuals || residual == x)
                        mixes.push_back({x, residual, y, weight});
    mixes.push_back(all_of(ROWNORM_F64));
    return mixes;
}

const std::vector<Mix> &main_mixes() {
    static const std::vector<Mix> mixes = {all_of(ROWNORM_F32),
                                           all_of(ROWNORM_F16),
                                           all_of(ROWNORM_BF16),
                                           {ROWNORM_BF16, ROWNORM_F32, ROWNORM_BF16, ROWNORM_F32},
                                           {ROWNORM_F32, ROWNORM_BF16, ROWNORM_F16, ROWNORM_BF16},
                                           all_of(ROWNORM_F64)};
    return mixes;
}

const char *name_of(Data data) {
    static const char *const names[] = {"normal", "offset", "massive", "constant", "lognormal",
                                        "sparse", "tiny",   "huge",    "subnormal"};
    return names[static_cast<int>(data)];
}

void set_formula(Case &c, int formula) {
    c.op = formula < 2 ? ROWNORM_RMS_NORM : (formula == 2 ? ROWNORM_LAYER_NORM : ROWNORM_L2_NORM);
    c.k = formula == 1 ? (c.n + 2) / 3 : 0;
    c.l2_eps = static_cast<rownorm_l2_eps>(formula < 3 ? 0 : formula - 3);
}

const char *name_of_formula(const Case &c) {
    static const char *const l2[] = {"l2-max", "l2-add", "l2-inside", "l2-clamp"};
    if (c.op == ROWNORM_L2_NORM)
        return c.l2_eps < 4 ? l2[c.l2_eps] : "l2-unknown";
    if (c.op == ROWNORM_LAYER_NORM)
        return "layer";
    return c.k != 0 || c.p != 0 ? "prms" : "rms";
}

std::string describe(const Case &c) {
    std::ostringstream out;
    out << name_of_formula(c) << " x=" << name_of(c.mix.x);
    if (c.residual)
        out << " residual=" << name_of(c.mix.residual);
    out << " y=" << name_of(c.mix.y) << " weight=" << name_of(c.mix.weight) << " rows=" << c.rows << " n=" << c.n;
    if (c.k != 0)
        out << " k=" << c.k;
    if (c.p != 0)
        out << " p=" << c.p;
    out << " eps=" << c.eps << (c.gain ? " gain" : "") << (c.bias ? " bias" : "");
    if (c.weight_offset != 0)
        out << " weight_offset=" << c.weight_offset;
    if (c.round != ROWNORM_ROUND_ONCE)
        out << " round=" << (c.round == ROWNORM_ROUND_TO_F16 ? "f16" : "bf16");
    out << " data=" << name_of(c.data) << " seed=" << c.seed;
    return out.str();
}

rownorm_descriptor descriptor_of(const Case &c) {
    rownorm_descriptor d = {};
    d.struct_size = sizeof d;
    d.op = c.op;
    d.x_type = c.mix.x;
    d.residual_type = c.mix.residual;
    d.y_type = c.mix.y;
    d.weight_type = c.mix.weight;
    d.round_before_weight = c.round;
    d.l2_eps = c.l2_eps;
    d.n = c.n;
    d.k = c.k;
    d.p = c.p;
    d.eps = c.eps;
    d.weight_offset = c.weight_offset;
    return d;
}

Inputs make_inputs(const Case &c) {
    Inputs in;
    in.x = make_rows(c, c.mix.x, c.seed);
    if (c.residual)
        in.residual = make_rows(c, c.mix.residual, c.seed + 7777777);
    if (c.gain)
        in.w = make_weight(c, c.weight_offset == 0 ? 1 : 0, c.seed + 31);
    if (c.bias)
        in.b = make_weight(c, 0, c.seed + 32);
    return in;
}

std::vector<std::byte> elements(rownorm_type type, const std::vector<long double> &values) {
    std::vector<std::byte> bytes(values.size() * size_of(type));
    for (std::size_t i = 0; i < values.size(); ++i)
        store(type, bytes.data() + i * size_of(type), values[i]);
    return bytes;
}

std::vector<long double> values_of(rownorm_type type, const std::vector<std::byte> &bytes) {
    std::vector<long double> values(bytes.size() / size_of(type));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = load(type, bytes.data() + i * size_of(type));
    return values;
}

double test_scale() {
    static const double scale = [] {
        const char *text = std::getenv("ROWNORM_TEST_SCALE");
        const double value = text == nullptr ? 1 : std::strtod(text, nullptr);
        return value > 0 ? value : 1;
    }();
    return scale;
}

int scaled(int count) {
    const int result = static_cast<int>(count * test_scale());
    return result < 1 ? 1 : result;
}

bool kept(std::uint64_t member) {
    return test_scale() >= 1 || static_cast<double>(scramble(member) >> 11) < test_scale() * 9007199254740992.0;
}

} // namespace rownorm_test
