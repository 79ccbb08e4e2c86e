// SPDX-License-Identifier: Apache-2.0
//
// The rules of rownorm.h on descriptors and ios, as plainly as they read there.
#include "abi_call.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace fuzz {

using namespace rownorm_test;

namespace {

constexpr std::int64_t far_beyond = std::int64_t(1) << 59; ///< more bytes than any machine has

template <class T>
bool struct_is_legal(const Sized<T> &s) {
    const std::uint32_t size = s.value.struct_size;
    if (s.value.flags != 0 || size < sizeof(T) || size > sizeof s)
        return false;
    const auto *const bytes = reinterpret_cast<const unsigned char *>(&s);
    return std::all_of(bytes + sizeof(T), bytes + size, [](unsigned char b) { return b == 0; });
}

bool types_are_legal(const rownorm_descriptor &d) {
    if (d.x_type < ROWNORM_F32 || d.x_type > ROWNORM_F64)
        return false;
    for (const rownorm_type type : {d.residual_type, d.y_type, d.weight_type})
        if (type > ROWNORM_F64 || (type != 0 && (type == ROWNORM_F64) != (d.x_type == ROWNORM_F64)))
            return false;
    return true;
}

bool modes_are_legal(const rownorm_descriptor &d) {
    return d.op >= 1 && d.op <= 3 && d.round_before_weight <= 2 &&
           (d.round_before_weight == 0 || d.x_type != ROWNORM_F64) &&
           (d.l2_eps == 0 || (d.op == ROWNORM_L2_NORM && d.l2_eps <= 3));
}

bool number_is_legal(double v, bool f64) { return std::isfinite(f64 ? v : static_cast<double>(static_cast<float>(v))); }

bool share_is_legal(const rownorm_descriptor &d) {
    const bool k = d.k != 0, p = d.p != 0; // NaN is given
    if (!k && !p)
        return true;
    return d.op == ROWNORM_RMS_NORM && !(k && p) && d.k >= 0 && d.k <= d.n && (!p || (d.p > 0 && d.p <= 1));
}

bool in_block(const Argument &a, const Extent &extent) {
    for (const std::int64_t row : a.rows(extent))
        if (row < 0 || row + a.row_bytes > block_bytes)
            return false;
    return true;
}

/// A stride that no memory is large enough for.
bool is_far(const Argument &a, const Extent &extent) {
    for (std::size_t d = 0; d < 3; ++d)
        if (!a.one_block && extent[d] != 1 && (a.stride[d] < 0 || a.stride[d] >= far_beyond))
            return true;
    return false;
}

/// More rows than the block holds are refused if an output uses one place twice; others are not tried.
Ruling rule_many_rows(const Call &call) {
    const Argument &y = *call.layout[1];
    for (std::size_t d = 0; d < 3; ++d)
        if (call.extent[d] > 1 && y.stride[d] == 0)
            return Ruling::refused;
    return Ruling::beyond;
}

bool presence_is_legal(const Call &call) {
    const Layout &l = call.layout;
    return l[0] && l[1] && (!l[3] || l[2]) && (!l[6] || call.descriptor.value.op == ROWNORM_LAYER_NORM);
}

} // namespace

Ruling rule_descriptor(const Call &call) {
    const rownorm_descriptor &d = call.descriptor.value;
    const bool f64 = d.x_type == ROWNORM_F64;
    const bool legal = struct_is_legal(call.descriptor) && types_are_legal(d) && modes_are_legal(d) && d.n >= 1 &&
                       number_is_legal(d.eps, f64) && d.eps >= 0 && number_is_legal(d.weight_offset, f64) &&
                       share_is_legal(d);
    if (!legal || d.n >= far_beyond * 4)
        return Ruling::refused;
    return d.n > block_bytes ? Ruling::beyond : Ruling::accepted;
}

Ruling rule_io(const Call &call) {
    const auto below = [](std::int64_t e) { return e < 0; };
    if (!struct_is_legal(call.io) || std::any_of(call.extent.begin(), call.extent.end(), below))
        return Ruling::refused;
    if (std::find(call.extent.begin(), call.extent.end(), 0) != call.extent.end())
        return Ruling::accepted;
    if (!presence_is_legal(call))
        return Ruling::refused;
    for (const auto &a : call.layout)
        if (a && is_far(*a, call.extent))
            return Ruling::refused;
    std::int64_t rows = 1;
    for (const std::int64_t e : call.extent)
        if (__builtin_mul_overflow(rows, e, &rows) || rows >= far_beyond)
            return Ruling::refused;
    if (rows > 300)
        return rule_many_rows(call);
    if (!is_legal(call.layout, call.extent))
        return Ruling::refused;
    for (const auto &a : call.layout)
        if (a && !in_block(*a, call.extent))
            return Ruling::beyond;
    return Ruling::accepted;
}

std::string describe(const Call &call) {
    const rownorm_descriptor &d = call.descriptor.value;
    std::ostringstream out;
    out << "way " << static_cast<int>(call.way) << " of " << call.parts << "; op " << d.op << ", types " << d.x_type
        << " " << d.residual_type << " " << d.y_type << " " << d.weight_type << ", round " << d.round_before_weight
        << ", l2_eps " << d.l2_eps << ", n " << d.n << ", k " << d.k << ", p " << d.p << ", eps " << d.eps
        << ", offset " << d.weight_offset << ", sizes " << d.struct_size << " " << call.io.value.struct_size
        << "\n  extent " << call.extent[0] << "x" << call.extent[1] << "x" << call.extent[2];
    for (std::size_t i = 0; i < call.layout.size(); ++i)
        if (const auto &a = call.layout[i])
            out << "; " << argument_names[i] << " at " << a->base << " by " << a->stride[0] << "," << a->stride[1]
                << "," << a->stride[2];
    return out.str();
}

} // namespace fuzz
