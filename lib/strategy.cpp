// SPDX-License-Identifier: Apache-2.0
#include "strategy.hpp"

#include "machine.hpp"

namespace rownorm {
namespace {

// Shorter rows come by what hardware fetches ahead of them.
constexpr int64_t kTwoPages = 8 << 10;

// Streaming pays only where it spares the fetch of a line that is not in the caches: not in place.
bool can_stream(const Plan &plan, const rownorm_io &io) {
    constexpr uint64_t line = 64;
    const auto address = reinterpret_cast<uintptr_t>(io.y.data);
    const uint64_t strides =
        uint64_t(io.y.stride_bytes[0]) | uint64_t(io.y.stride_bytes[1]) | uint64_t(io.y.stride_bytes[2]);
    const bool in_place = io.y.data == io.x.data || io.y.data == io.residual.data;
    const bool stages_sum_in_y = io.residual.data && !io.residual_out.data;
    return !in_place && !stages_sum_in_y && (address | strides) % line == 0 && plan.n * bytes_of(plan.y) >= 16 * 64;
}

// The second pass both reads and writes, and on some CPUs one hinders the other where it takes few instructions: what
// it is to read is there before it begins. An add of 16-bit rows takes so many that few of its loads are under way at
// once.
bool pays_to_fetch_early(const Plan &plan, const rownorm_io &io) {
    if (plan.k < plan.n || !machine().takes_turns)
        return false;
    if (io.residual.data)
        return bytes_of(plan.x) == 2 && bytes_of(plan.residual) == 2 &&
               plan.x_bytes > (plan.x == kF16 ? kShortRow : kTwoPages);
    const int64_t most = plan.op == ROWNORM_LAYER_NORM ? machine().l1 : machine().l2 / 8;
    return bytes_of(plan.x) >= 4 && plan.x_bytes > kTwoPages && plan.x_bytes <= most;
}

// Of an add of long f32 rows hardware fetches both inputs in time, where much of them comes from L3 or a row is as long
// as L1.
bool pays_to_fetch(const Plan &plan, const rownorm_io &io, int64_t bytes) {
    const bool long_add = io.residual.data && plan.x == kF32 && plan.residual == kF32 && plan.x_bytes > kTwoPages;
    return !long_add || (bytes > 3 * machine().l3 && plan.x_bytes < machine().l1);
}

// An add waits for its rows longer than a second pass for its stores, and then needs them near. Others gain where the
// next row fits beside this one and the gain.
bool pays_to_fetch_to_l1(const Plan &plan, const rownorm_io &io) {
    return plan.x_bytes <= machine().l1 / (io.residual.data ? 4 : 3);
}

// From how many bytes of a batch on they go to memory anyway. Threads that share a batch also share the way there, and
// gain from the cache longer than one alone. Of an L3 as large as that of many cores a batch gets only a part (measured
// on Granite Rapids, whose L3 has 480 MB).
int64_t streamed_from(bool shared) {
    constexpr int64_t of_many_cores = 128 << 20;
    const int64_t part = shared ? machine().l3 / 4 * 3 : machine().l3 / 2, of_one_core = 32 * machine().l2;
    return machine().l3 > of_many_cores && part > of_one_core ? of_one_core : part;
}

} // namespace

int64_t traffic(const Plan &plan, const rownorm_io &io, int64_t rows) noexcept {
    int64_t element = bytes_of(plan.x) + bytes_of(plan.y);
    element += io.residual.data ? bytes_of(plan.residual) : 0;
    element += io.residual_out.data && io.residual_out.data != io.residual.data ? bytes_of(plan.residual) : 0;
    int64_t bytes;
    return __builtin_mul_overflow(plan.n * element, rows, &bytes) ? INT64_MAX : bytes;
}

Strategy choose_far_strategy(const Plan &plan, const rownorm_io &io, int64_t rows, int64_t mine) noexcept {
    const int64_t bytes = traffic(plan, io, rows);
    if (bytes <= 2 * machine().l2)
        return {.ahead = plan.rows_of(io).ahead};
    const bool stream = bytes >= streamed_from(mine < rows) && can_stream(plan, io);
    // Short rows come from L3 fast enough without being fetched.
    const bool short_from_l3 = is_short(plan.rows_of(io).type, plan.n) && bytes <= machine().l3;
    const bool fetch = pays_to_fetch(plan, io, bytes);
    if (!stream && (short_from_l3 || !fetch))
        return {.ahead = plan.rows_of(io).ahead};
    return {.far = true,
            .fetch_next = fetch,
            .fetch_to_l1 = pays_to_fetch_to_l1(plan, io),
            .fetch_early = stream && pays_to_fetch_early(plan, io),
            .stream = stream};
}

} // namespace rownorm
