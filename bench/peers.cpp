// SPDX-License-Identifier: Apache-2.0
#include "peers.hpp"

#include "limits.hpp"
#include "measure.hpp"

#include <optional>

namespace rownorm_bench {

namespace {

PeerRun make_loop(rownorm_peer_op op, const Shape &) {
    return [op](const rownorm_peer_arguments &arguments) { rownorm_peer_loop(op, &arguments); };
}

PeerRun make_loop_fast_math(rownorm_peer_op op, const Shape &) {
    return [op](const rownorm_peer_arguments &arguments) { rownorm_peer_loop_fast_math(op, &arguments); };
}

// The loops' and Eigen's objects are compiled for AVX2 on x86-64.
bool runs_peer_objects() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return true;
#endif
}

std::optional<rownorm_peer_op> peer_op(const Op &op) {
    if (op.p != 0)
        return {};
    switch (op.op) {
    case ROWNORM_LAYER_NORM:
        return ROWNORM_PEER_LAYER;
    case ROWNORM_L2_NORM:
        return ROWNORM_PEER_L2;
    default:
        return op.residual ? ROWNORM_PEER_ADD_RMS : ROWNORM_PEER_RMS;
    }
}

bool all_f32(const Mix &mix) { return mix.x == ROWNORM_F32 && mix.y == ROWNORM_F32 && mix.weight == ROWNORM_F32; }

void run_peer(benchmark::State &state, const Cell &cell, const PeerRun &run) {
    const auto floats = [](std::byte *data) { return reinterpret_cast<float *>(data); };
    const double limit = best_limit(cell);
    const double rate = measure(state, cell, bytes_moved(cell), [&](const Arguments &a) {
        run({floats(a.y), floats(a.residual), floats(a.x), floats(a.w), floats(a.b), cell.shape.rows, cell.shape.cols,
             1e-6F});
    });
    state.counters["share"] = rate / limit;
}

} // namespace

std::vector<Peer> peers() {
    std::vector<Peer> found;
    if (runs_peer_objects()) {
        found.push_back({"loop", make_loop});
        found.push_back({"loop_fast_math", make_loop_fast_math});
#if defined(ROWNORM_BENCH_EIGEN)
        found.push_back({"eigen", make_eigen});
#endif
    }
#if defined(ROWNORM_BENCH_ONEDNN)
    found.push_back({"onednn", make_onednn});
#endif
    return found;
}

void register_peers(const Cell &cell) {
    const auto op = peer_op(*cell.op);
    if (!op || !all_f32(*cell.mix) || cell.threads != 1)
        return;
    for (const Peer &peer : peers())
        if (PeerRun run = peer.make(*op, cell.shape))
            benchmark::RegisterBenchmark(name_of(cell, peer.name).c_str(),
                                         [cell, run](benchmark::State &state) { run_peer(state, cell, run); });
}

} // namespace rownorm_bench
