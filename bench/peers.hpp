// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cells.hpp"
#include "peers.h"

#include <benchmark/benchmark.h>

#include <functional>
#include <vector>

namespace rownorm_bench {

using PeerRun = std::function<void(const rownorm_peer_arguments &)>;

struct Peer {
    const char *name;
    // A run for this op and shape, f32 on one thread; empty if the peer has none.
    PeerRun (*make)(rownorm_peer_op op, const Shape &shape);
};

// Those that this program was built with and this machine can run.
std::vector<Peer> peers();

// Registers every peer that can run the cell.
void register_peers(const Cell &cell);

// Each in a file that is built if its library was found.
ROWNORM_API PeerRun make_onednn(rownorm_peer_op op, const Shape &shape);
ROWNORM_API PeerRun make_eigen(rownorm_peer_op op, const Shape &shape);

} // namespace rownorm_bench
