// SPDX-License-Identifier: Apache-2.0
//
// The library called before main, from another object's static constructor: dispatch and threads are
// there already.
#include <rownorm/rownorm.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace {

struct EarlyBird {
    EarlyBird() : small(130, 5), large(600 * 640, 5) {
        small_status = rownorm_rms_norm_f32(small.data(), small.data(), nullptr, 1, 130, 0);
        large_status = rownorm_rms_norm_f32(large.data(), large.data(), nullptr, 600, 640, 0);
        isa = rownorm_isa();
    }
    bool all_one() const {
        const auto is_one = [](float v) { return v == 1; };
        return std::all_of(small.begin(), small.end(), is_one) && std::all_of(large.begin(), large.end(), is_one);
    }

    std::vector<float> small, large;
    rownorm_status small_status = ROWNORM_INVALID_ARGUMENT, large_status = ROWNORM_INVALID_ARGUMENT;
    const char *isa = nullptr;
};

const EarlyBird early_bird;

} // namespace

TEST_SUITE("known faults") {
    TEST_CASE("a call from a static constructor") {
        CHECK(early_bird.small_status == ROWNORM_OK);
        CHECK(early_bird.large_status == ROWNORM_OK);
        CHECK(early_bird.all_one());
        CHECK(early_bird.isa == rownorm_isa());
    }
}
