// SPDX-License-Identifier: Apache-2.0
//
// Rows too long for any memory: refused, before their bytes are added up and pass 63 bits.
#include "../formats.hpp"
#include "../scene.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace rownorm_test;

TEST_SUITE("attack: limits") {
    TEST_CASE("n near every power of two: a plan, or an error that names n; and no rows can be run with it") {
        constexpr rownorm_type types[] = {ROWNORM_F32, ROWNORM_F16, ROWNORM_BF16, ROWNORM_F64};
        for (const rownorm_type type : types)
            for (int bit = 30; bit < 63; ++bit)
                for (const std::int64_t off : {-1, 0, 1}) {
                    Case c;
                    c.mix = all_of(type);
                    c.n = (std::int64_t(1) << bit) + off;
                    const rownorm_descriptor d = descriptor_of(c);
                    const Plan plan(d);
                    CAPTURE(c.n);
                    if (bit < 56)
                        REQUIRE(plan.status() == ROWNORM_OK);
                    if (plan.status() != ROWNORM_OK) {
                        CHECK(plan.status() == ROWNORM_INVALID_ARGUMENT);
                        CHECK(message_lacks({"n is", std::to_string(c.n)}) == "");
                        continue;
                    }
                    rownorm_io io = rownorm_dense_io(&d, 0);
                    CHECK(rownorm_execute(plan, &io) == ROWNORM_OK);
                    CHECK(bit < 60);
                }
    }

    TEST_CASE("one-line calls: the same, without rows and with them") {
        float y = 0, x = 1;
        for (int bit = 57; bit < 63; ++bit) {
            const std::int64_t n = std::int64_t(1) << bit;
            CAPTURE(bit);
            CHECK(rownorm_rms_norm_f32(&y, &x, nullptr, 4, n, 0) == ROWNORM_INVALID_ARGUMENT);
            CHECK(rownorm_layer_norm_f32(&y, &x, nullptr, nullptr, 1000, n, 0) == ROWNORM_INVALID_ARGUMENT);
        }
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        CHECK(rownorm_rms_norm_f32(&y, &x, nullptr, 1, most, 0) == ROWNORM_INVALID_ARGUMENT);
        CHECK(rownorm_rms_norm_f32(&y, &x, nullptr, most, most, 0) == ROWNORM_INVALID_ARGUMENT);
        CHECK(rownorm_rms_norm_f32(&y, &x, nullptr, most, 1, 0) == ROWNORM_INVALID_ARGUMENT);
        CHECK(y == 0);
    }
}
