// SPDX-License-Identifier: Apache-2.0
#include "normalizer.hpp"

#include "failure.hpp"

#include <cmath>

namespace command {

namespace {

rownorm_descriptor describe(const normalize_options &options, const job_shape &shape, std::uint32_t max_threads) {
    rownorm_descriptor d{};
    d.struct_size = sizeof d;
    d.op = options.op;
    d.x_type = shape.x;
    d.residual_type = shape.residual;
    d.y_type = shape.y;
    d.weight_type = shape.x == ROWNORM_F64 ? ROWNORM_F64 : ROWNORM_F32;
    d.round_before_weight = rounding(options, shape.y);
    d.l2_eps = options.l2_eps;
    d.max_threads = max_threads;
    d.n = shape.n;
    d.k = options.partial_count;
    d.p = options.partial;
    d.eps = options.eps;
    d.weight_offset = options.weight_offset;
    d.isa = options.isa ? options.isa->c_str() : nullptr;
    return d;
}

void check(rownorm_status status) {
    // The arguments are the user's, so a broken rule is wrong usage.
    if (status == ROWNORM_INVALID_ARGUMENT)
        fail_usage("{}", rownorm_last_error());
    if (status != ROWNORM_OK)
        fail("{}", rownorm_last_error());
}

} // namespace

rownorm_round rounding(const normalize_options &options, rownorm_type y) {
    // t is an f32 (f64 for f64) anyway, so for these outputs there is nothing to round.
    if (!options.round_before_weight || y == ROWNORM_F32 || y == ROWNORM_F64)
        return ROWNORM_ROUND_ONCE;
    return y == ROWNORM_F16 ? ROWNORM_ROUND_TO_F16 : ROWNORM_ROUND_TO_BF16;
}

std::int64_t elements_in_statistic(const normalize_options &options, std::int64_t n) {
    if (options.partial_count != 0)
        return options.partial_count;
    if (options.partial == 0)
        return n;
    const double wanted = std::ceil(double(n) * options.partial * (1 - 0x1p-40));
    return wanted < 1 ? 1 : wanted >= double(n) ? n : std::int64_t(wanted);
}

normalizer::normalizer(const normalize_options &options, const job_shape &shape, std::uint32_t max_threads,
                       std::vector<std::byte> weight, std::vector<std::byte> bias)
    : descriptor_(describe(options, shape, max_threads)), plan_(nullptr, rownorm_plan_destroy),
      weight_(std::move(weight)), bias_(std::move(bias)) {
    rownorm_plan *plan = nullptr;
    check(rownorm_plan_create(&plan, &descriptor_));
    plan_.reset(plan);
}

void normalizer::run(const row_block &block) const {
    rownorm_io io = rownorm_dense_io(&descriptor_, block.rows);
    io.x.data = block.x;
    io.y.data = block.y;
    io.residual.data = block.residual;
    io.residual_out.data = block.residual;
    io.w.data = weight();
    io.b.data = bias();
    if (block.residual == nullptr) // a stride of what is not there is an error to the library
        io.residual.stride_bytes[2] = io.residual_out.stride_bytes[2] = 0;
    check(rownorm_execute(plan_.get(), &io));
}

} // namespace command
