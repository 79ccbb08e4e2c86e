// SPDX-License-Identifier: Apache-2.0
//
// Short rows without statistics: where they lie, those that the usual arithmetic does not hold, and the two ways that
// say which bits they must have.
#pragma once

#include "formats.hpp"
#include "lane_model.hpp"
#include "usual_way.hpp"

#include <limits>

namespace rownorm_test {

constexpr rownorm_type short_types[] = {ROWNORM_F32, ROWNORM_F16, ROWNORM_BF16};
/// The mixes that have kernels for both passes: of one type, and others.
constexpr Mix whole_mixes[] = {all_of(ROWNORM_F32),
                               all_of(ROWNORM_F16),
                               all_of(ROWNORM_BF16),
                               {ROWNORM_F16, ROWNORM_F16, ROWNORM_F16, ROWNORM_F32},
                               {ROWNORM_BF16, ROWNORM_BF16, ROWNORM_BF16, ROWNORM_F32},
                               {ROWNORM_F32, ROWNORM_F32, ROWNORM_BF16, ROWNORM_F32}};

/// Where the rows lie: one of the ways that must not matter. In place, if elements of y are as large as those of x.
constexpr std::uint64_t ways_to_lie = 6;
inline Setup placed(const Case &c, std::uint64_t way) {
    Setup setup = without_statistics(c);
    switch (way % ways_to_lie) {
    case 0:
        break;
    case 1:
        setup.y_place = size_of(c.mix.x) == size_of(c.mix.y) ? Place::over_x : Place::own;
        break;
    case 2:
        setup.y.offset = 1;
        break;
    case 3:
        setup.x.row_gap = 3;
        setup.y.row_gap = 5;
        setup.residual.row_gap = 1;
        break;
    case 4:
        setup.x.offset = setup.b.offset = 3;
        setup.residual.offset = setup.w.offset = 1;
        setup.y.offset = 5;
        break;
    default:
        setup.weight_per_row = true;
        setup.w.row_gap = 1;
    }
    return setup;
}

/// The same along other dimensions than the last, or more than one, or begun in the middle.
constexpr std::uint64_t ways_to_lie_anywhere = 6 * ways_to_lie;
inline Setup placed_anywhere(const Case &c, std::uint64_t way) {
    Setup setup = placed(c, way);
    switch (way / ways_to_lie % 6) {
    case 0:
        break;
    case 1:
        setup.how = How::parts;
        setup.parts = 3;
        break;
    case 2:
        setup.extent = {1, c.rows, 1};
        break;
    case 3:
        setup.extent = {c.rows, 1, 1};
        break;
    case 4:
        setup.extent = c.rows % 2 == 0 ? std::array{std::int64_t{2}, std::int64_t{1}, c.rows / 2}
                                       : std::array{std::int64_t{1}, std::int64_t{1}, c.rows};
        setup.x.outer_first = setup.residual.outer_first = true;
        break;
    default:
        setup.extent = c.rows % 3 == 0 ? std::array{std::int64_t{1}, std::int64_t{3}, c.rows / 3}
                                       : std::array{c.rows, std::int64_t{1}, std::int64_t{1}};
        setup.y.outer_first = setup.x.outer_first = true; // both, as y may be x
    }
    return setup;
}

/// With nothing readable behind the arguments, or before them.
inline Setup between_guards(const Case &c, std::uint64_t way) {
    Setup setup = without_statistics(c);
    for (Placement *placement : {&setup.x, &setup.residual, &setup.residual_out, &setup.w, &setup.b, &setup.y})
        placement->guard = both_ends[way % 2];
    setup.y_place = way % 4 < 2 || size_of(c.mix.x) != size_of(c.mix.y) ? Place::own : Place::over_x;
    return setup;
}

/// A row that the arithmetic of f32 does not hold, by its elements of x; those of the residual are 0.
constexpr int kinds_of_unfit = 4;
inline std::vector<long double> unfit_row(int kind, std::int64_t n) {
    const auto elements = static_cast<std::size_t>(n);
    std::vector<long double> x(elements, 1);
    for (std::size_t i = 0; i < elements; ++i)
        x[i] = kind == 3 ? static_cast<long double>(static_cast<double>(i % 7) * 1e-25) : 1 + static_cast<int>(i % 5);
    constexpr long double values[] = {std::numeric_limits<long double>::quiet_NaN(),
                                      -std::numeric_limits<long double>::infinity(), 1e30L};
    if (kind < 3)
        x[elements / 3] = values[kind];
    return x;
}

/// Puts a row over row `odd` of all, its residual being 0.
inline Inputs with_elements(const Case &c, const Inputs &in, const std::vector<long double> &x, std::int64_t odd) {
    Inputs other = in;
    other.x.clear();
    const std::vector<std::byte> row = elements(c.mix.x, x);
    for (std::int64_t i = 0; i < c.rows; ++i)
        other.x.insert(other.x.end(), row.begin(), row.end());
    other.residual.assign(in.residual.size(), std::byte{0});
    return with_row(in, other, static_cast<std::size_t>(c.rows), static_cast<std::size_t>(odd));
}

/// Without statistics as with them, and those as the model has them.
inline void check_both_ways(const Case &c, const Inputs &in, const Setup &setup) {
    const Outputs all = run(c, in);
    if (!c.residual) {
        const std::string text = difference(c, lane_model(c, in), all);
        if (!text.empty())
            report(c, setup, "not as the model: " + text);
    }
    Outputs expected = all;
    expected.mean.clear();
    expected.rstd.clear();
    check_same_bits(c, in, setup, expected);
}

} // namespace rownorm_test
