// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include "formats.hpp"

#include <algorithm>

namespace rownorm_test {
namespace {

std::array<std::int64_t, 3> extent_of(const Case &c, const Setup &setup) {
    if (setup.extent == std::array<std::int64_t, 3>{0, 0, 0})
        return {1, 1, c.rows};
    return setup.extent;
}

} // namespace

Arguments::Arguments(const Case &c, const Inputs &in, const Setup &setup)
    : c_(c), in_(in), setup_(setup), extent_(extent_of(c, setup)), x_(c.mix.x, c.n, extent_, setup.x) {
    x_.put(in.x);
    if (c.residual)
        residual_.emplace(c.mix.residual, c.n, extent_, setup.residual).put(in.residual);
    if (c.gain)
        put_weight(w_, in.w, setup.w);
    if (c.bias)
        put_weight(b_, in.b, setup.b);
    if (setup.y_place == Place::own)
        own_y_.emplace(c.mix.y, c.n, extent_, setup.y);
    if (c.residual && setup.residual_out_place == Place::own)
        own_sum_.emplace(c.mix.residual, c.n, extent_, setup.residual_out);
    if (setup.read_only)
        make_inputs_read_only();
    const auto statistics = static_cast<std::size_t>(setup.statistics ? c.rows : 0) * size_of(statistic_type(c));
    rstd_.assign(statistics, pattern);
    if (c.op == ROWNORM_LAYER_NORM)
        mean_.assign(statistics, pattern);
}

rownorm_io Arguments::io() {
    rownorm_io io = {};
    io.struct_size = sizeof io;
    for (int d = 0; d < 3; ++d)
        io.extent[d] = extent_[static_cast<std::size_t>(d)];
    io.x = x_.input();
    io.y = output(setup_.y_place, own_y_);
    if (residual_) {
        io.residual = residual_->input();
        io.residual_out = output(setup_.residual_out_place, own_sum_);
    }
    if (w_)
        io.w = weight_input(*w_);
    if (b_)
        io.b = weight_input(*b_);
    io.rstd = rstd_.empty() ? nullptr : rstd_.data();
    io.mean = mean_.empty() ? nullptr : mean_.data();
    return io;
}

Outputs Arguments::outputs() const {
    Outputs out;
    out.y = rows_at(setup_.y_place, own_y_).get();
    if (c_.residual && setup_.residual_out_place != Place::nowhere)
        out.residual_out = rows_at(setup_.residual_out_place, own_sum_).get();
    out.mean = mean_;
    out.rstd = rstd_;
    return out;
}

bool Arguments::intact(const std::optional<Rows> &weight, const std::vector<std::byte> &row) const {
    if (!weight)
        return true;
    const std::vector<std::byte> now = weight->get();
    for (std::size_t at = 0; at < now.size(); at += row.size())
        if (!std::equal(row.begin(), row.end(), now.begin() + static_cast<std::ptrdiff_t>(at)))
            return false;
    return weight->gaps_intact();
}

std::string Arguments::damage() const {
    if (!written(Place::over_x) && x_.get() != in_.x)
        return "x was changed";
    if (residual_ && !written(Place::over_residual) && residual_->get() != in_.residual)
        return "the residual was changed";
    if (!x_.gaps_intact() || (residual_ && !residual_->gaps_intact()))
        return "bytes between or around the rows of an input were changed";
    if ((own_y_ && !own_y_->gaps_intact()) || (own_sum_ && !own_sum_->gaps_intact()))
        return "bytes between or around the rows of an output were changed";
    if (!intact(w_, in_.w) || !intact(b_, in_.b))
        return "a gain or bias, or bytes around it, were changed";
    return {};
}

void Arguments::put_weight(std::optional<Rows> &to, const std::vector<std::byte> &row, const Placement &placement) {
    const bool many = setup_.weight_per_row;
    to.emplace(c_.mix.weight, c_.n, many ? extent_ : std::array<std::int64_t, 3>{1, 1, 1}, placement);
    std::vector<std::byte> all;
    for (std::int64_t i = 0; i < (many ? c_.rows : 1); ++i)
        all.insert(all.end(), row.begin(), row.end());
    to->put(all);
}

rownorm_input Arguments::weight_input(const Rows &rows) const {
    return setup_.weight_per_row ? rows.input() : rownorm_input{rows.data(), {0, 0, 0}};
}

const Rows &Arguments::rows_at(Place place, const std::optional<Rows> &own) const {
    return place == Place::own ? *own : (place == Place::over_x ? x_ : *residual_);
}

rownorm_output Arguments::output(Place place, const std::optional<Rows> &own) const {
    return place == Place::nowhere ? rownorm_output{} : rows_at(place, own).output();
}

bool Arguments::written(Place place) const {
    return setup_.y_place == place || (c_.residual && setup_.residual_out_place == place);
}

void Arguments::make_inputs_read_only() {
    x_.make_read_only();
    for (std::optional<Rows> *rows : {&residual_, &w_, &b_})
        if (*rows)
            (*rows)->make_read_only();
}

} // namespace rownorm_test
