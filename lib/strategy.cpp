// SPDX-License-Identifier: Apache-2.0
#include "strategy.hpp"

#include "threads.hpp"

#include <cstdio>

namespace rownorm {
namespace {

struct Caches {
    int64_t l2 = 512 << 10, l3 = 8 << 20; // where the kernel does not say
};

// Reads /sys/devices/system/cpu/cpu0/cache/index<index>/<name>. (The C library's sysconf reports the L3 of some
// virtual machines ten times too large.)
bool read_cache(int index, const char *name, char (&text)[32]) {
    char path[96];
    std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
    return read_file(path, text, sizeof text) > 0;
}

Caches read_caches() {
    Caches sizes;
    char text[32];
    for (int index = 0; read_cache(index, "level", text); index++) {
        const int level = text[0] - '0';
        long long kilobytes = 0;
        if (read_cache(index, "size", text) && std::sscanf(text, "%lldK", &kilobytes) == 1 && kilobytes > 0) {
            if (level == 2)
                sizes.l2 = kilobytes << 10;
            else if (level == 3)
                sizes.l3 = kilobytes << 10;
        }
    }
    return sizes;
}

const Caches &caches() {
    static const Caches sizes = read_caches();
    return sizes;
}

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

// The second pass both reads and writes, and where it takes few instructions one hinders the other: what it is to read
// is there before it begins. (Shorter rows come by what hardware fetches ahead of them.) An add of 16-bit rows takes so
// many that few of its loads are under way at once.
bool pays_to_fetch_early(const Plan &plan, const rownorm_io &io) {
    constexpr int64_t two_pages = 8 << 10;
    if (plan.k < plan.n)
        return false;
    if (io.residual.data)
        return bytes_of(plan.x) == 2 && bytes_of(plan.residual) == 2 &&
               plan.x_bytes > (plan.x == kF16 ? kShortRow : two_pages);
    return bytes_of(plan.x) >= 4 && plan.x_bytes > two_pages && plan.x_bytes <= 4 * two_pages;
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
    if (bytes <= 2 * caches().l2)
        return {.ahead = plan.rows_of(io).ahead};
    // Threads that share a batch also share the way to memory, and gain from the cache longer than one alone.
    const int64_t streamed_from = mine < rows ? caches().l3 / 4 * 3 : caches().l3 / 2;
    const bool stream = bytes >= streamed_from && can_stream(plan, io);
    // Short rows come from L3 fast enough without being fetched.
    if (is_short(plan.rows_of(io).type, plan.n) && bytes <= caches().l3 && !stream)
        return {.ahead = true};
    // An add waits for its rows longer than a second pass for its stores, and then needs them near.
    const bool to_l1 = io.residual.data && plan.x_bytes <= (8 << 10);
    const bool early = stream && pays_to_fetch_early(plan, io);
    return {.fetch_next = true, .fetch_to_l1 = to_l1, .fetch_early = early, .stream = stream};
}

} // namespace rownorm
