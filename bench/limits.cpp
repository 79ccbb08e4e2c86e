// SPDX-License-Identifier: Apache-2.0
#include "limits.hpp"

#include "measure.hpp"
#include "team.hpp"
#include "traffic.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace rownorm_bench {

namespace {

struct Share {
    std::size_t begin, size;
};

// One part of `total`, cut at whole multiples of `grain`.
Share share_of(std::size_t total, std::size_t grain, unsigned part, unsigned parts) {
    const std::size_t grains = (total + grain - 1) / grain;
    const std::size_t begin = std::min(total, grains * part / parts * grain);
    const std::size_t end = std::min(total, grains * (part + 1) / parts * grain);
    return {begin, end - begin};
}

std::size_t common_bytes(const Cell &cell) { return std::min(sizes_of(cell).x, sizes_of(cell).y); }
std::size_t copied_bytes(const Cell &cell) { return 2 * common_bytes(cell); }
std::size_t read_bytes(const Cell &cell) { return sizes_of(cell).x; }

std::size_t copied_and_weight_bytes(const Cell &cell) { return copied_bytes(cell) + sizes_of(cell).weight; }

// Where the gain is cold, traffic without it bounds nothing.
bool where_weight_is_warm(const Cell &cell) { return cell.place != Place::cold_weight; }
bool where_weight_is_cold(const Cell &cell) { return cell.place == Place::cold_weight; }
bool where_stores_bypass(const Cell &cell) { return has_nt_copy && where_weight_is_warm(cell); }
bool for_dense_floats(const Cell &cell) {
    const Mix &mix = *cell.mix;
    return mix.x == mix.y && mix.x == mix.weight && element_bytes(mix.x) >= 4;
}

void run_memcpy(const Cell &cell, const Arguments &a, unsigned part, unsigned parts) {
    const Share share = share_of(common_bytes(cell), 64, part, parts);
    std::memcpy(a.y + share.begin, a.x + share.begin, share.size);
}

void run_nt_copy(const Cell &cell, const Arguments &a, unsigned part, unsigned parts) {
    const Share share = share_of(common_bytes(cell), 64, part, parts);
    nt_copy(a.y + share.begin, a.x + share.begin, share.size);
}

template <class T>
void triad_of(const Cell &cell, const Arguments &a, unsigned part, unsigned parts) {
    const auto n = static_cast<std::size_t>(cell.shape.cols);
    const Share rows = share_of(static_cast<std::size_t>(cell.shape.rows), 1, part, parts);
    triad(reinterpret_cast<T *>(a.y) + rows.begin * n, reinterpret_cast<const T *>(a.x) + rows.begin * n,
          reinterpret_cast<const T *>(a.w), rows.size, n);
}

void run_triad(const Cell &cell, const Arguments &a, unsigned part, unsigned parts) {
    cell.mix->x == ROWNORM_F64 ? triad_of<double>(cell, a, part, parts) : triad_of<float>(cell, a, part, parts);
}

void run_read(const Cell &cell, const Arguments &a, unsigned part, unsigned parts) {
    const Share share = share_of(sizes_of(cell).x, 64, part, parts);
    benchmark::DoNotOptimize(read_all(a.x + share.begin, share.size));
}

void run_memcpy_read_w(const Cell &cell, const Arguments &a, unsigned part, unsigned parts) {
    run_memcpy(cell, a, part, parts);
    benchmark::DoNotOptimize(read_all(a.w, sizes_of(cell).weight));
}

constexpr Limit limit_table[] = {
    {"memcpy", true, where_weight_is_warm, copied_bytes, run_memcpy},
    {"memcpy_read_w", true, where_weight_is_cold, copied_and_weight_bytes, run_memcpy_read_w},
    {"nt_copy", true, where_stores_bypass, copied_bytes, run_nt_copy},
    {"triad", true, for_dense_floats, copied_and_weight_bytes, run_triad},
    {"read", false, where_weight_is_warm, read_bytes, run_read},
};

// Seconds of one run when each thread goes on with its own part without waiting for the others: starting and
// joining them is a cost of ours, not a limit of the machine. The best of several trials, because a disturbed
// one says nothing about a limit.
double least_seconds(const Cell &cell, const Limit &limit, unsigned threads) {
    constexpr int trials = 9;
    constexpr double batch_bytes = 64 << 20;
    const auto batch = static_cast<int>(std::clamp(batch_bytes / static_cast<double>(bytes_touched(cell)), 1.0, 2e4));
    std::vector<Rotation> rotations(threads, Rotation(cell));
    const auto run_batch = [&](unsigned part) {
        for (int i = 0; i < batch; i++)
            limit.run(cell, rotations[part].next(), part, threads);
    };
    Team team(threads);
    double least = std::numeric_limits<double>::infinity();
    for (int trial = 0; trial < trials; trial++) {
        const Stopwatch stopwatch(threads);
        team.run(run_batch);
        least = std::min(least, stopwatch.seconds());
    }
    return least / batch;
}

} // namespace

std::span<const Limit> limits() { return limit_table; }

void run_limit(benchmark::State &state, const Cell &cell, const Limit &limit) {
    Team team(cell.threads);
    measure(state, cell, limit.bytes(cell),
            [&](const Arguments &a) { team.run([&](unsigned part) { limit.run(cell, a, part, cell.threads); }); });
}

double best_limit(const Cell &cell) {
    static std::map<std::string, double> known;
    double &best = known[name_of(cell, "limit")];
    if (best != 0)
        return best;
    for (const Limit &limit : limits())
        if (limit.writes && limit.applies(cell))
            best = std::max(best, static_cast<double>(limit.bytes(cell)) / least_seconds(cell, limit, cell.threads));
    return best;
}

} // namespace rownorm_bench
