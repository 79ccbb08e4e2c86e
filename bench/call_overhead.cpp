// SPDX-License-Identifier: Apache-2.0
//
// The cost of a call where the work is smallest: one row of 128 f32, hot in L1.
#include "norm.hpp"

// Of lib/.
#include "dispatch.hpp"
#include "float_state.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace rownorm_bench {

namespace {

constexpr std::int64_t n = 128;
constexpr float eps = 1e-6F;

struct Row {
    alignas(64) std::array<float, n> x, w, y;
    Row() {
        x.fill(0.75F);
        w.fill(1.25F);
        y.fill(0);
    }
};

struct Planned {
    Row row;
    rownorm_plan *plan = nullptr;
    rownorm_io io{};

    Planned() {
        rownorm_descriptor d = {};
        d.struct_size = sizeof d;
        d.op = ROWNORM_RMS_NORM;
        d.x_type = ROWNORM_F32;
        d.n = n;
        d.eps = eps;
        d.max_threads = 1;
        rownorm_plan_create(&plan, &d);
        io = rownorm_dense_io(&d, 1);
        io.x.data = row.x.data();
        io.w.data = row.w.data();
        io.y.data = row.y.data();
    }
    ~Planned() { rownorm_plan_destroy(plan); }
    Planned(const Planned &) = delete;
    Planned &operator=(const Planned &) = delete;
};

// Times call(); the first status decides whether there is anything to time.
template <class Call>
void time_calls(benchmark::State &state, Call &&call) {
    if (call() != ROWNORM_OK) {
        state.SkipWithError(rownorm_last_error());
        return;
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(call());
        benchmark::ClobberMemory();
    }
}

// The work itself, as any call has to have it done: both passes through the kernel table, and the root between.
// `State` is made first, each time.
template <class State>
void kernels(benchmark::State &state) {
    using namespace rownorm;
    Row row;
    const Isa *const isa = default_isa();
    if (isa == nullptr) {
        state.SkipWithError(rownorm_last_error());
        return;
    }
    const KernelTable &table = isa->kernels_for({kF32, kF32, kF32, n, false, false});
    const SumKernel sum_squares = table.statistics->sum_squares[kF32];
    const ApplyKernel apply = table.apply[kF32]->apply[0][kGain][kF32][kF32];
    time_calls(state, [&] {
        [[maybe_unused]] const State made;
        double sum = 0;
        sum_squares({row.x.data(), 0}, 1, n, &sum);
        const Scale scale = {0, 0, static_cast<double>(static_cast<float>(1.0 / std::sqrt(sum / n + eps)))};
        ApplyArguments a = {};
        a.x = {row.x.data(), 0};
        a.y = {row.y.data(), 0};
        a.w = {row.w.data(), 0};
        a.rows = 1;
        a.n = n;
        a.scale = &scale;
        a.weight_offset = -0.0;
        apply(a);
        return ROWNORM_OK;
    });
}

struct Nothing {};

void execute_part(benchmark::State &state) {
    const Planned planned;
    time_calls(state, [&] { return rownorm_execute_part(planned.plan, &planned.io, 0, 1); });
}

void execute(benchmark::State &state) {
    const Planned planned;
    time_calls(state, [&] { return rownorm_execute(planned.plan, &planned.io); });
}

void one_line(benchmark::State &state) {
    Row row;
    time_calls(state, [&] { return rownorm_rms_norm_f32(row.y.data(), row.x.data(), row.w.data(), 1, n, eps); });
}

} // namespace

void register_call_overhead() {
    benchmark::RegisterBenchmark("call/kernels/rows:1/cols:128", kernels<Nothing>);
    benchmark::RegisterBenchmark("call/kernels_in_default_state/rows:1/cols:128", kernels<rownorm::DefaultFloatState>);
    benchmark::RegisterBenchmark("call/execute_part/rows:1/cols:128", execute_part);
    benchmark::RegisterBenchmark("call/execute/rows:1/cols:128", execute);
    benchmark::RegisterBenchmark("call/one_line/rows:1/cols:128", one_line);
}

} // namespace rownorm_bench
