// SPDX-License-Identifier: Apache-2.0
//
// Each rule of a descriptor, broken: the status, the message (it names the field, its value and the
// rule), no plan. And its counterpart that is legal.
#include "broken.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace rownorm_test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

rownorm_descriptor good() {
    Case c;
    c.n = 100;
    return descriptor_of(c);
}

struct Broken {
    const char *field, *value, *rule; ///< what the message must say
    void (*edit)(rownorm_descriptor &);
    rownorm_status status = ROWNORM_INVALID_ARGUMENT;
};

void check_refused(const Broken &broken) {
    rownorm_descriptor d = good();
    broken.edit(d);
    rownorm_plan *plan = reinterpret_cast<rownorm_plan *>(&d);
    CAPTURE(broken.field);
    CAPTURE(broken.value);
    CHECK(rownorm_plan_create(&plan, &d) == broken.status);
    CHECK(plan == nullptr);
    CHECK(message_lacks({broken.field, broken.value, broken.rule}) == "");
    std::vector<std::max_align_t> memory(rownorm_plan_size() / sizeof(std::max_align_t) + 1);
    plan = reinterpret_cast<rownorm_plan *>(&d);
    CHECK(rownorm_plan_init(&plan, memory.data(), rownorm_plan_size(), &d) == broken.status);
    CHECK(plan == nullptr);
}

bool accepted(void (*edit)(rownorm_descriptor &)) {
    rownorm_descriptor d = good();
    edit(d);
    return Plan(d).status() == ROWNORM_OK;
}

using D = rownorm_descriptor;

const Broken enums[] = {
    {"flags", "0x1", "must be 0", [](D &d) { d.flags = 1; }},
    {"flags", "0x80000000", "must be 0", [](D &d) { d.flags = 0x80000000U; }},
    {"op", "0", "rownorm_op", [](D &d) { d.op = 0; }},
    {"op", "4", "rownorm_op", [](D &d) { d.op = 4; }},
    {"op", "4294967295", "rownorm_op", [](D &d) { d.op = 0xffffffffU; }},
    {"x_type", "0", "must be", [](D &d) { d.x_type = 0; }},
    {"x_type", "5", "must be", [](D &d) { d.x_type = 5; }},
    {"residual_type", "9", "rownorm_type", [](D &d) { d.residual_type = 9; }},
    {"y_type", "5", "rownorm_type", [](D &d) { d.y_type = 5; }},
    {"weight_type", "77", "rownorm_type", [](D &d) { d.weight_type = 77; }},
    {"round_before_weight", "3", "rownorm_round", [](D &d) { d.round_before_weight = 3; }},
    {"l2_eps", "4", "rownorm_l2_eps",
     [](D &d) {
         d.op = ROWNORM_L2_NORM;
         d.l2_eps = 4;
     }},
    {"l2_eps", "1", "0 for other ops", [](D &d) { d.l2_eps = ROWNORM_L2_EPS_ADD; }},
    {"l2_eps", "2", "0 for other ops",
     [](D &d) {
         d.op = ROWNORM_LAYER_NORM;
         d.l2_eps = ROWNORM_L2_EPS_INSIDE;
     }},
};

const Broken mixes_with_f64[] = {
    {"residual_type", "1", "f64", [](D &d) { d.x_type = ROWNORM_F64, d.y_type = d.weight_type = ROWNORM_TYPE_AS_X; }},
    {"y_type", "4", "f64", [](D &d) { d.y_type = ROWNORM_F64; }},
    {"weight_type", "4", "f64", [](D &d) { d.weight_type = ROWNORM_F64; }},
    {"residual_type", "4", "f64", [](D &d) { d.residual_type = ROWNORM_F64; }},
    {"y_type", "3", "f64",
     [](D &d) {
         d.x_type = ROWNORM_F64;
         d.residual_type = d.weight_type = ROWNORM_TYPE_AS_X;
         d.y_type = ROWNORM_BF16;
     }},
    {"round_before_weight", "1", "f64",
     [](D &d) {
         d.x_type = ROWNORM_F64;
         d.residual_type = d.weight_type = d.y_type = ROWNORM_TYPE_AS_X;
         d.round_before_weight = ROWNORM_ROUND_TO_F16;
     }},
};

const Broken numbers[] = {
    {"n", "0", "at least 1", [](D &d) { d.n = 0; }},
    {"n", "-1", "at least 1", [](D &d) { d.n = -1; }},
    {"n", "-9223372036854775808", "at least 1", [](D &d) { d.n = INT64_MIN; }},
    {"n", "9223372036854775807", "overflow", [](D &d) { d.n = INT64_MAX; }},
    {"n", "4611686018427387904", "overflow", [](D &d) { d.n = INT64_C(1) << 62; }},
    {"eps", "-1", "at least 0", [](D &d) { d.eps = -1; }},
    {"eps", "-1e-05", "at least 0", [](D &d) { d.eps = -1e-5; }},
    {"eps", "-4.94066e-324", "at least 0", [](D &d) { d.eps = -4.9406564584124654e-324; }},
    {"eps", "nan", "finite", [](D &d) { d.eps = no_number; }},
    {"eps", "inf", "finite", [](D &d) { d.eps = infinity; }},
    {"eps", "-inf", "finite", [](D &d) { d.eps = -infinity; }},
    {"weight_offset", "nan", "finite", [](D &d) { d.weight_offset = no_number; }},
    {"weight_offset", "-inf", "finite", [](D &d) { d.weight_offset = -infinity; }},
};

const Broken partial[] = {
    {"k", "-1", "1 to n", [](D &d) { d.k = -1; }},
    {"k", "101", "100", [](D &d) { d.k = 101; }},
    {"p", "-0.5", "(0, 1]", [](D &d) { d.p = -0.5; }},
    {"p", "1.5", "(0, 1]", [](D &d) { d.p = 1.5; }},
    {"p", "1", "(0, 1]", [](D &d) { d.p = std::nextafter(1.0, 2.0); }},
    {"p", "nan", "(0, 1]", [](D &d) { d.p = no_number; }},
    {"p", "inf", "(0, 1]", [](D &d) { d.p = infinity; }},
    {"p", "0.5", "one of them",
     [](D &d) {
         d.k = 50;
         d.p = 0.5;
     }},
    {"k", "50", "RMSNorm",
     [](D &d) {
         d.op = ROWNORM_LAYER_NORM;
         d.k = 50;
     }},
    {"p", "0.5", "RMSNorm",
     [](D &d) {
         d.op = ROWNORM_L2_NORM;
         d.p = 0.5;
     }},
};

} // namespace

TEST_SUITE("ABI: descriptor") {
    TEST_CASE("unknown enum values and flags") {
        for (const Broken &broken : enums)
            check_refused(broken);
    }

    TEST_CASE("f64 goes only with f64") {
        for (const Broken &broken : mixes_with_f64)
            check_refused(broken);
        CHECK(accepted([](D &d) { d.x_type = d.y_type = d.residual_type = d.weight_type = ROWNORM_F64; }));
        CHECK(accepted([](D &d) {
            d.x_type = ROWNORM_F64;
            d.y_type = d.residual_type = d.weight_type = ROWNORM_TYPE_AS_X;
        }));
    }

    TEST_CASE("n, eps and weight_offset") {
        for (const Broken &broken : numbers)
            check_refused(broken);
        CHECK(accepted([](D &d) { d.eps = 0; }));
        CHECK(accepted([](D &d) { d.eps = -0.0; }));
        CHECK(accepted([](D &d) { d.eps = 4.9406564584124654e-324; }));
        CHECK(accepted([](D &d) { d.weight_offset = -0.0; }));
        CHECK(accepted([](D &d) { d.n = INT64_C(1) << 40; }));
    }

    TEST_CASE("k and p") {
        for (const Broken &broken : partial)
            check_refused(broken);
        CHECK(accepted([](D &d) { d.k = 100; }));
        CHECK(accepted([](D &d) { d.k = 1; }));
        CHECK(accepted([](D &d) { d.p = 1; }));
        CHECK(accepted([](D &d) { d.p = 1e-300; }));
        CHECK(accepted([](D &d) { d.p = -0.0; })); // as not given
    }

    TEST_CASE("an eps of -0 counts as 0") {
        Case c;
        c.n = 70;
        c.eps = -0.0;
        check(c);
        const Inputs zeros{std::vector<std::byte>(70 * 4), {}, {}, {}};
        for (const long double value : values_of(ROWNORM_F32, check(c, zeros).outputs.y))
            CHECK(std::isnan(value));
    }

    TEST_CASE("eps of f32 rows is rounded to f32") {
        Case c;
        c.n = 3;
        c.eps = 1.00000001; // (float)eps is 1
        check(c);
        Case exact = c;
        exact.eps = 1;
        CHECK(difference(c, run(exact, make_inputs(c)), run(c, make_inputs(c))) == "");
    }

    TEST_CASE("NULL arguments and plan memory") {
        const rownorm_descriptor d = good();
        rownorm_plan *plan = nullptr;
        std::vector<std::max_align_t> memory(rownorm_plan_size() / sizeof(std::max_align_t) + 2);
        const std::size_t size = rownorm_plan_size();
        auto *const bytes = reinterpret_cast<char *>(memory.data());
        CHECK(rownorm_plan_create(nullptr, &d) == ROWNORM_INVALID_ARGUMENT);
        CHECK(message_lacks({"plan", "NULL"}) == "");
        CHECK(rownorm_plan_create(&plan, nullptr) == ROWNORM_INVALID_ARGUMENT);
        CHECK(message_lacks({"descriptor", "NULL"}) == "");
        CHECK(rownorm_plan_init(nullptr, bytes, size, &d) == ROWNORM_INVALID_ARGUMENT);
        CHECK(message_lacks({"plan", "NULL"}) == "");
        CHECK(rownorm_plan_init(&plan, bytes, size, nullptr) == ROWNORM_INVALID_ARGUMENT);
        CHECK(message_lacks({"descriptor", "NULL"}) == "");
        CHECK(rownorm_plan_init(&plan, nullptr, size, &d) == ROWNORM_INVALID_ARGUMENT);
        CHECK(message_lacks({"memory", "NULL"}) == "");
        CHECK(rownorm_plan_init(&plan, bytes, size - 1, &d) == ROWNORM_INVALID_ARGUMENT);
        CHECK(message_lacks({"memory_bytes", std::to_string(size - 1), std::to_string(size)}) == "");
        CHECK(rownorm_plan_init(&plan, bytes, 0, &d) == ROWNORM_INVALID_ARGUMENT);
        for (const std::size_t off : {1U, 4U, 8U, 15U}) {
            std::memset(bytes, 0x55, size + 16);
            plan = reinterpret_cast<rownorm_plan *>(bytes);
            CHECK(rownorm_plan_init(&plan, bytes + off, size, &d) == ROWNORM_INVALID_ARGUMENT);
            CHECK(message_lacks({"memory", "multiple of 16"}) == "");
            CHECK(plan == nullptr);
            CHECK(std::count(bytes, bytes + size + 16, char(0x55)) == static_cast<std::ptrdiff_t>(size + 16));
        }
        CHECK(rownorm_plan_init(&plan, bytes, size, &d) == ROWNORM_OK);
        CHECK(reinterpret_cast<char *>(plan) >= bytes);
        CHECK(reinterpret_cast<char *>(plan) < bytes + size);
        rownorm_plan_destroy(nullptr);
    }

    TEST_CASE("a plan keeps nothing of the descriptor") {
        std::string isa = isas().back();
        rownorm_descriptor d = good();
        d.isa = isa.c_str();
        const Plan plan(d);
        REQUIRE(plan.status() == ROWNORM_OK);
        isa.assign(isa.size(), 'x');
        std::memset(&d, 0xff, sizeof d);
        CHECK(rownorm_plan_isa(plan) == isas().back());
    }
}
