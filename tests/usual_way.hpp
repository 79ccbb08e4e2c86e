// SPDX-License-Identifier: Apache-2.0
//
// Without statistics rows may go ways of their own, which must give the bits of the way that any batch can take.
#pragma once

#include "run.hpp"

#include <algorithm>

namespace rownorm_test {

/// The bits that the same rows have where statistics are asked for.
inline Outputs the_usual_way(const Case &c, const Inputs &in) {
    Outputs expected = run(c, in);
    expected.mean.clear();
    expected.rstd.clear();
    return expected;
}

inline Setup without_statistics(const Case &c) {
    Setup setup;
    setup.statistics = false;
    setup.residual_out_place = c.residual ? Place::over_residual : Place::own;
    return setup;
}

/// The rows of `ordinary`, but that row `odd` has the data of the other.
inline Inputs with_row(const Inputs &ordinary, const Inputs &other, std::size_t rows, std::size_t odd) {
    Inputs in = ordinary;
    const auto replace = [&](std::vector<std::byte> &all, const std::vector<std::byte> &from) {
        const auto row = static_cast<std::ptrdiff_t>(all.size() / rows), begin = row * static_cast<std::ptrdiff_t>(odd);
        if (!all.empty())
            std::copy(from.begin() + begin, from.begin() + begin + row, all.begin() + begin);
    };
    replace(in.x, other.x);
    replace(in.residual, other.residual);
    return in;
}

/// The first `count` of so many rows.
inline Inputs first_rows(const Inputs &all, std::int64_t rows, std::int64_t count) {
    Inputs in = all;
    in.x.resize(in.x.size() / static_cast<std::size_t>(rows) * static_cast<std::size_t>(count));
    in.residual.resize(in.residual.size() / static_cast<std::size_t>(rows) * static_cast<std::size_t>(count));
    return in;
}
inline Outputs first_rows(const Outputs &all, std::int64_t rows, std::int64_t count) {
    Outputs out = all;
    for (std::vector<std::byte> *bytes : {&out.y, &out.residual_out, &out.mean, &out.rstd})
        bytes->resize(bytes->size() / static_cast<std::size_t>(rows) * static_cast<std::size_t>(count));
    return out;
}

} // namespace rownorm_test
