// SPDX-License-Identifier: Apache-2.0
//
// The norms as array expressions of Eigen, row by row.
#include "peers.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>

namespace rownorm_bench {

namespace {

using Row = Eigen::Map<Eigen::ArrayXf>;
using ConstRow = Eigen::Map<const Eigen::ArrayXf>;

template <class X>
void scale(Row y, const X &x, const ConstRow &w, float factor) {
    y = x * factor * w;
}

template <class X>
void rms(const Row &y, const X &x, const ConstRow &w, float eps) {
    scale(y, x, w, 1 / std::sqrt(x.square().mean() + eps));
}

void layer(Row y, const ConstRow &x, const ConstRow &w, const ConstRow &b, float eps) {
    const float mean = x.mean();
    const float factor = 1 / std::sqrt((x - mean).square().mean() + eps);
    y = (x - mean) * factor * w + b;
}

void run_row(rownorm_peer_op op, const rownorm_peer_arguments &a, std::int64_t row) {
    const ConstRow x(a.x + row * a.n, a.n), w(a.w, a.n), b(a.b, a.n);
    const Row y(a.y + row * a.n, a.n);
    switch (op) {
    case ROWNORM_PEER_RMS:
        return rms(y, x, w, a.eps);
    case ROWNORM_PEER_ADD_RMS: {
        Row residual(a.residual + row * a.n, a.n);
        residual += x;
        return rms(y, residual, w, a.eps);
    }
    case ROWNORM_PEER_L2:
        return scale(y, x, w, 1 / std::max(std::sqrt(x.square().sum()), a.eps));
    case ROWNORM_PEER_LAYER:
        return layer(y, x, w, b, a.eps);
    }
}

} // namespace

PeerRun make_eigen(rownorm_peer_op op, const Shape &) {
    return [op](const rownorm_peer_arguments &arguments) {
        for (std::int64_t row = 0; row < arguments.rows; row++)
            run_row(op, arguments, row);
    };
}

} // namespace rownorm_bench
