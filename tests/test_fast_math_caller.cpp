// SPDX-License-Identifier: Apache-2.0
//
// A caller that is compiled with -ffast-math, where isnan and isfinite are folded away: the library still
// sees what the bits say. (This file alone has that flag, as the host's would.)
#include <rownorm/rownorm.h>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>

namespace {

constexpr std::uint32_t nan_bits = 0x7fc00000, infinity_bits = 0x7f800000;

float float_of(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

std::uint32_t bits_of(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

rownorm_status plan_with_eps(std::uint64_t bits) {
    rownorm_descriptor d = {};
    d.struct_size = sizeof d;
    d.op = ROWNORM_RMS_NORM;
    d.x_type = ROWNORM_F32;
    d.n = 4;
    std::memcpy(&d.eps, &bits, sizeof d.eps);
    rownorm_plan *plan = nullptr;
    const rownorm_status status = rownorm_plan_create(&plan, &d);
    rownorm_plan_destroy(plan);
    return status;
}

} // namespace

TEST_SUITE("known faults") {
    TEST_CASE("a caller with -ffast-math: eps and NaN rows") {
#if !defined(__FAST_MATH__)
#error "compile this file with -ffast-math"
#endif
        CHECK(plan_with_eps(0x7ff8000000000000) == ROWNORM_INVALID_ARGUMENT);
        CHECK(plan_with_eps(0x7ff0000000000000) == ROWNORM_INVALID_ARGUMENT);
        CHECK(plan_with_eps(0xbff0000000000000) == ROWNORM_INVALID_ARGUMENT);
        CHECK(plan_with_eps(0x3ff0000000000000) == ROWNORM_OK);
        float x[12] = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}, y[12] = {};
        CHECK(rownorm_rms_norm_f32(y, x, nullptr, 3, 4, float_of(nan_bits)) == ROWNORM_INVALID_ARGUMENT);
        CHECK(rownorm_rms_norm_f32(y, x, nullptr, 3, 4, float_of(infinity_bits)) == ROWNORM_INVALID_ARGUMENT);
        x[5] = float_of(nan_bits);
        CHECK(rownorm_layer_norm_f32(y, x, nullptr, nullptr, 3, 4, 1e-5F) == ROWNORM_OK);
        for (int i = 0; i < 12; ++i)
            CHECK(((bits_of(y[i]) & 0x7fffffff) > infinity_bits) == (i / 4 == 1));
    }
}
