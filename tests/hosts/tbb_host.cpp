// SPDX-License-Identifier: Apache-2.0
//
// rownorm_tbb_host: a host that uses oneTBB itself. Its limits stay its own, and calls from inside its
// tasks are right.
#include <rownorm/rownorm.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <vector>

namespace {

constexpr std::int64_t n = 1024, rows = 400;

bool all_one(const std::vector<float> &y) {
    return std::all_of(y.begin(), y.end(), [](float v) { return v == 1; });
}

bool call_is_right() {
    const std::vector<float> x(static_cast<std::size_t>(rows * n), 3.0F);
    std::vector<float> y(x.size());
    return rownorm_rms_norm_f32(y.data(), x.data(), nullptr, rows, n, 0) == ROWNORM_OK && all_one(y);
}

} // namespace

int main() {
    constexpr auto limit = tbb::global_control::max_allowed_parallelism;
    const std::size_t unlimited = tbb::global_control::active_value(limit);
    bool right = call_is_right() && tbb::global_control::active_value(limit) == unlimited;
    const tbb::global_control four(limit, 4);
    right = right && call_is_right() && tbb::global_control::active_value(limit) == 4;
    std::atomic<int> wrong{0};
    tbb::parallel_for(0, 20, [&](int) { wrong += call_is_right() ? 0 : 1; });
    std::printf("limit %zu, %d wrong, %s\n", tbb::global_control::active_value(limit), wrong.load(),
                right ? "right" : "wrong");
    return right && wrong == 0 ? 0 : 1;
}
