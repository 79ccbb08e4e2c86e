// SPDX-License-Identifier: Apache-2.0
#include "norm.hpp"

#include "limits.hpp"
#include "measure.hpp"

#include <memory>

namespace rownorm_bench {

namespace {

struct DestroyPlan {
    void operator()(rownorm_plan *plan) const { rownorm_plan_destroy(plan); }
};
using Plan = std::unique_ptr<rownorm_plan, DestroyPlan>;

Plan plan_for(const rownorm_descriptor &descriptor) {
    rownorm_plan *plan = nullptr;
    rownorm_plan_create(&plan, &descriptor);
    return Plan(plan);
}

void point_at(rownorm_io &io, const Cell &cell, const Arguments &arguments) {
    io.x.data = arguments.x;
    io.y.data = arguments.y;
    io.w.data = arguments.w;
    if (cell.op->bias)
        io.b.data = arguments.b;
    if (cell.op->residual)
        io.residual.data = io.residual_out.data = arguments.residual;
}

} // namespace

void run_norm(benchmark::State &state, const Cell &cell, const std::string &isa) {
    const rownorm_descriptor descriptor = descriptor_of(cell, isa == "default" ? nullptr : isa.c_str());
    const Plan plan = plan_for(descriptor);
    rownorm_io io = rownorm_dense_io(&descriptor, cell.shape.rows);
    io.x.stride_bytes[2] *= stride_of(cell.place);
    io.y.stride_bytes[2] *= stride_of(cell.place);
    point_at(io, cell, Rotation(cell).next());
    if (!plan || rownorm_execute(plan.get(), &io) != ROWNORM_OK) {
        state.SkipWithError(rownorm_last_error());
        return;
    }
    const double limit = best_limit(cell);
    const double rate = measure(state, cell, bytes_moved(cell), [&](const Arguments &arguments) {
        point_at(io, cell, arguments);
        rownorm_execute(plan.get(), &io);
    });
    state.counters["share"] = rate / limit;
}

} // namespace rownorm_bench
