// SPDX-License-Identifier: Apache-2.0
//
// The arguments of one call: the rows of a case placed in memory as a setup wants them.
#pragma once

#include "compare.hpp"
#include "setup.hpp"

#include <optional>

namespace rownorm_test {

class Arguments {
public:
    /// Keeps references to all three.
    Arguments(const Case &c, const Inputs &in, const Setup &setup);

    rownorm_io io();
    /// The outputs after the call, as dense rows.
    Outputs outputs() const;
    /// What the call changed and should not have; empty if nothing.
    std::string damage() const;

private:
    void put_weight(std::optional<Rows> &to, const std::vector<std::byte> &row, const Placement &placement);
    rownorm_input weight_input(const Rows &rows) const;
    const Rows &rows_at(Place place, const std::optional<Rows> &own) const;
    rownorm_output output(Place place, const std::optional<Rows> &own) const;
    bool written(Place place) const;
    bool intact(const std::optional<Rows> &weight, const std::vector<std::byte> &row) const;
    void make_inputs_read_only();

    const Case &c_;
    const Inputs &in_;
    const Setup &setup_;
    std::array<std::int64_t, 3> extent_;
    Rows x_;
    std::optional<Rows> residual_, w_, b_, own_y_, own_sum_;
    std::vector<std::byte> mean_, rstd_;
};

} // namespace rownorm_test
