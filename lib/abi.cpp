// SPDX-License-Identifier: Apache-2.0
// Plans and their execution, as rownorm.h declares them: check, then run.
#include "arguments.hpp"
#include "execute.hpp"
#include "rows.hpp"
#include "status.hpp"

#include <cstdlib>
#include <new>

using namespace rownorm;

namespace {

constexpr size_t kPlanAlignment = 16;
static_assert(alignof(rownorm_plan) <= kPlanAlignment);

} // namespace

size_t rownorm_plan_size(void) { return sizeof(rownorm_plan); }

rownorm_status rownorm_plan_init(rownorm_plan **plan, void *memory, size_t memory_bytes,
                                 const rownorm_descriptor *descriptor) {
    if (!plan)
        return fail(ROWNORM_INVALID_ARGUMENT, "plan is NULL; it must point to where the plan's address goes");
    *plan = nullptr;
    if (!memory || reinterpret_cast<uintptr_t>(memory) % kPlanAlignment)
        return fail(ROWNORM_INVALID_ARGUMENT, "memory is %p; it must be a multiple of %zu, and not NULL", memory,
                    kPlanAlignment);
    if (memory_bytes < sizeof(rownorm_plan))
        return fail(ROWNORM_INVALID_ARGUMENT, "memory_bytes is %zu; rownorm_plan_size() is %zu", memory_bytes,
                    sizeof(rownorm_plan));
    auto *made = new (memory) rownorm_plan;
    const rownorm_status status = make_plan(*made, descriptor);
    if (!status)
        *plan = made;
    return status;
}

rownorm_status rownorm_plan_create(rownorm_plan **plan, const rownorm_descriptor *descriptor) {
    if (!plan)
        return fail(ROWNORM_INVALID_ARGUMENT, "plan is NULL; it must point to where the plan's address goes");
    *plan = nullptr;
    void *memory = std::malloc(sizeof(rownorm_plan));
    if (!memory)
        return fail(ROWNORM_OUT_OF_MEMORY, "no memory for a plan of %zu bytes", sizeof(rownorm_plan));
    const rownorm_status status = rownorm_plan_init(plan, memory, sizeof(rownorm_plan), descriptor);
    if (status)
        std::free(memory);
    return status;
}

void rownorm_plan_destroy(rownorm_plan *plan) { std::free(plan); }

const char *rownorm_plan_isa(const rownorm_plan *plan) { return plan ? plan->isa->name : nullptr; }

rownorm_status rownorm_execute(const rownorm_plan *plan, const rownorm_io *io) {
    int64_t rows = 0;
    const rownorm_status status = check_io(plan, io, &rows);
    return status || !rows ? status : run_batch(*plan, *io, rows);
}

rownorm_status rownorm_execute_part(const rownorm_plan *plan, const rownorm_io *io, int64_t part, int64_t parts) {
    if (parts < 1 || part < 0 || part >= parts)
        return fail(ROWNORM_INVALID_ARGUMENT, "part is %lld of %lld parts; it must be in [0, parts)",
                    static_cast<long long>(part), static_cast<long long>(parts));
    int64_t rows = 0;
    const rownorm_status status = check_io(plan, io, &rows);
    if (status || !rows)
        return status;
    run_rows(*plan, *io, rows, first_row(rows, part, parts), first_row(rows, part + 1, parts));
    return ROWNORM_OK;
}

rownorm_status rownorm_execute_on(const rownorm_plan *plan, const rownorm_io *io, rownorm_parallel_for_fn parallel_for,
                                  void *executor_context) {
    if (!parallel_for)
        return fail(ROWNORM_INVALID_ARGUMENT, "parallel_for is NULL");
    int64_t rows = 0;
    const rownorm_status status = check_io(plan, io, &rows);
    return status || !rows ? status : run_batch_on(*plan, *io, rows, parallel_for, executor_context);
}
