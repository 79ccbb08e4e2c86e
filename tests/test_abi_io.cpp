// SPDX-License-Identifier: Apache-2.0
//
// Each rule of an io, broken, in all ways to run: the status, the message, nothing written. Overlap has
// a file of its own.
#include "scene.hpp"

using namespace rownorm_test;

namespace {

struct Broken {
    const char *argument, *value, *rule;
    void (*edit)(Scene &);
};

void check_all(std::initializer_list<Broken> list) {
    for (const Broken &broken : list) {
        CAPTURE(broken.argument);
        CAPTURE(broken.value);
        Scene scene;
        broken.edit(scene);
        check_refused(scene, {broken.argument, broken.value, broken.rule});
    }
}

constexpr std::int64_t huge = INT64_C(1) << 62;

} // namespace

TEST_SUITE("ABI: io") {
    TEST_CASE("the scene itself is legal") {
        for (const rownorm_type type : {ROWNORM_F32, ROWNORM_F16, ROWNORM_BF16, ROWNORM_F64}) {
            Scene scene(type);
            if (type == ROWNORM_F64) { // rows of 128 bytes
                for (rownorm_input *in : {&scene.io.x, &scene.io.residual})
                    *in = {in->data, {0, 0, 0}};
                for (rownorm_output *out : {&scene.io.y, &scene.io.residual_out})
                    *out = {out->data, {12 * 136, 4 * 136, 136}};
                scene.io.extent[0] = 1;
            }
            check_accepted(scene);
        }
    }

    TEST_CASE("required arguments, and those that depend on others") {
        check_all({
            {"x", "NULL", "required", [](Scene &s) { s.io.x.data = nullptr; }},
            {"y", "NULL", "required", [](Scene &s) { s.io.y.data = nullptr; }},
            {"residual_out", "residual.data is NULL", "sum", [](Scene &s) { s.io.residual.data = nullptr; }},
            {"mean", "op is 1", "LayerNorm", [](Scene &s) { s.d.op = ROWNORM_RMS_NORM; }},
            {"mean", "op is 3", "LayerNorm", [](Scene &s) { s.d.op = ROWNORM_L2_NORM; }},
            {"flags", "0x4", "must be 0", [](Scene &s) { s.io.flags = 4; }},
        });
        for (void (*edit)(Scene &) :
             {+[](Scene &s) { s.io.w.data = nullptr; }, +[](Scene &s) { s.io.b.data = nullptr; },
              +[](Scene &s) { s.io.residual_out.data = nullptr; }, +[](Scene &s) { s.io.mean = s.io.rstd = nullptr; },
              +[](Scene &s) { s.io.residual.data = s.io.residual_out.data = nullptr; }}) {
            Scene scene;
            edit(scene);
            check_accepted(scene);
        }
    }

    TEST_CASE("plan and io are required") {
        Scene scene;
        const Plan plan(scene.d);
        CHECK(rownorm_execute(nullptr, &scene.io) == ROWNORM_INVALID_ARGUMENT);
        CHECK(message_lacks({"plan", "NULL"}) == "");
        CHECK(rownorm_execute(plan, nullptr) == ROWNORM_INVALID_ARGUMENT);
        CHECK(message_lacks({"io", "NULL"}) == "");
        CHECK(rownorm_execute_part(nullptr, &scene.io, 0, 1) == ROWNORM_INVALID_ARGUMENT);
        CHECK(rownorm_execute_part(plan, nullptr, 0, 1) == ROWNORM_INVALID_ARGUMENT);
        CHECK(rownorm_execute_on(nullptr, &scene.io, run_each, nullptr) == ROWNORM_INVALID_ARGUMENT);
        CHECK(rownorm_execute_on(plan, nullptr, run_each, nullptr) == ROWNORM_INVALID_ARGUMENT);
        CHECK(rownorm_execute_on(plan, &scene.io, nullptr, nullptr) == ROWNORM_INVALID_ARGUMENT);
        CHECK(message_lacks({"parallel_for", "NULL"}) == "");
        CHECK(rownorm_plan_isa(nullptr) == nullptr);
    }

    TEST_CASE("pointers are multiples of the element") {
        check_all({
            {"x", "0x", "multiple", [](Scene &s) { s.io.x.data = s.at(0) + 1; }},
            {"residual", "0x", "multiple", [](Scene &s) { s.io.residual.data = s.at(1) + 2; }},
            {"residual_out", "0x", "multiple", [](Scene &s) { s.io.residual_out.data = s.at(4) + 3; }},
            {"w", "0x", "multiple", [](Scene &s) { s.io.w.data = s.at(2) + 2; }},
            {"b", "0x", "multiple", [](Scene &s) { s.io.b.data = s.at(3) + 1; }},
            {"y", "0x", "multiple", [](Scene &s) { s.io.y.data = s.at(5) + 2; }},
            {"mean", "0x", "multiple", [](Scene &s) { s.io.mean = s.at(6) + 2; }},
            {"rstd", "0x", "multiple", [](Scene &s) { s.io.rstd = s.at(7) + 1; }},
        });
        for (const rownorm_type type : {ROWNORM_F16, ROWNORM_BF16}) {
            Scene scene(type);
            scene.io.x.data = scene.at(0) + 1;
            check_refused(scene, {"x", "multiple"});
            scene.io.x.data = scene.at(0) + 2;
            check_accepted(scene);
        }
        Scene scene;
        scene.io.x.data = scene.at(0) + 4;
        scene.io.y.data = scene.at(5) + 12;
        check_accepted(scene);
    }

    TEST_CASE("strides are not negative and multiples of the element") {
        check_all({
            {"x.stride_bytes[2]", "-80", "at least 0", [](Scene &s) { s.io.x.stride_bytes[2] = -80; }},
            {"x.stride_bytes[0]", "-4", "at least 0", [](Scene &s) { s.io.x.stride_bytes[0] = -4; }},
            {"residual.stride_bytes[1]", "-320", "at least 0", [](Scene &s) { s.io.residual.stride_bytes[1] = -320; }},
            {"w.stride_bytes[2]", "-64", "at least 0", [](Scene &s) { s.io.w.stride_bytes[2] = -64; }},
            {"b.stride_bytes[0]", "-64", "at least 0", [](Scene &s) { s.io.b.stride_bytes[0] = -64; }},
            {"y.stride_bytes[2]", "-80", "at least 0", [](Scene &s) { s.io.y.stride_bytes[2] = -80; }},
            {"residual_out.stride_bytes[1]", "-8", "at least 0",
             [](Scene &s) { s.io.residual_out.stride_bytes[1] = -8; }},
            {"x.stride_bytes[2]", "81", "multiple", [](Scene &s) { s.io.x.stride_bytes[2] = 81; }},
            {"y.stride_bytes[1]", "322", "multiple", [](Scene &s) { s.io.y.stride_bytes[1] = 322; }},
            {"w.stride_bytes[1]", "2", "multiple", [](Scene &s) { s.io.w.stride_bytes[1] = 2; }},
        });
    }

    TEST_CASE("extents, and products that overflow") {
        check_all({
            {"extent[0]", "-1", "at least 0", [](Scene &s) { s.io.extent[0] = -1; }},
            {"extent[2]", "-9223372036854775808", "at least 0", [](Scene &s) { s.io.extent[2] = INT64_MIN; }},
            {"extent", "4611686018427387904", "overflow", [](Scene &s) { s.io.extent[2] = huge; }},
            {"extent", "4294967296", "overflow",
             [](Scene &s) { s.io.extent[0] = s.io.extent[1] = s.io.extent[2] = INT64_C(1) << 32; }},
            {"stride_bytes[2]", "4611686018427387904", "overflow", [](Scene &s) { s.io.x.stride_bytes[2] = huge; }},
            {"stride_bytes[0]", "9223372036854775804", "overflow",
             [](Scene &s) { s.io.y.stride_bytes[0] = INT64_MAX - 3; }},
            {"stride_bytes[1]", "4611686018427387904", "overflow", [](Scene &s) { s.io.w.stride_bytes[1] = huge; }},
            {"x", "0xfffffffffffffff0", "overflow",
             [](Scene &s) { s.io.x.data = reinterpret_cast<void *>(UINTPTR_MAX - 15); }},
        });
        // 2^40 rows of 2^40 numbers: each fits, the product does not.
        Scene scene;
        scene.d.n = INT64_C(1) << 40;
        scene.io.extent[0] = scene.io.extent[1] = 1;
        scene.io.extent[2] = INT64_C(1) << 40;
        for (rownorm_input *in : {&scene.io.x, &scene.io.residual})
            in->stride_bytes[2] = INT64_C(1) << 42;
        for (rownorm_output *out : {&scene.io.y, &scene.io.residual_out})
            out->stride_bytes[2] = INT64_C(1) << 42;
        check_refused(scene, {"overflow"});
        scene.d.n = 4;
        scene.io.extent[2] = huge;
        check_refused(scene, {"overflow"});
    }

    TEST_CASE("the same for calls of the plainest kind") {
        const Broken list[] = {
            {"x", "NULL", "required", [](Scene &s) { s.io.x.data = nullptr; }},
            {"y", "NULL", "required", [](Scene &s) { s.io.y.data = nullptr; }},
            {"residual_out", "NULL", "sum", [](Scene &s) { s.io.residual_out.data = s.at(4); }},
            {"flags", "0x4", "must be 0", [](Scene &s) { s.io.flags = 4; }},
            {"x", "0x", "multiple", [](Scene &s) { s.io.x.data = s.at(0) + 1; }},
            {"y", "0x", "multiple", [](Scene &s) { s.io.y.data = s.at(5) + 2; }},
            {"w", "0x", "multiple", [](Scene &s) { s.io.w.data = s.at(2) + 2; }},
            {"b", "0x", "multiple", [](Scene &s) { s.io.b.data = s.at(3) + 1; }},
            {"x.stride_bytes[2]", "-80", "at least 0", [](Scene &s) { s.io.x.stride_bytes[2] = -80; }},
            {"y.stride_bytes[2]", "-80", "at least 0", [](Scene &s) { s.io.y.stride_bytes[2] = -80; }},
            {"w.stride_bytes[2]", "-4", "at least 0", [](Scene &s) { s.io.w.stride_bytes[2] = -4; }},
            {"b.stride_bytes[2]", "-64", "at least 0", [](Scene &s) { s.io.b.stride_bytes[2] = -64; }},
            {"x.stride_bytes[2]", "81", "multiple", [](Scene &s) { s.io.x.stride_bytes[2] = 81; }},
            {"y.stride_bytes[2]", "82", "multiple", [](Scene &s) { s.io.y.stride_bytes[2] = 82; }},
            {"w.stride_bytes[2]", "3", "multiple", [](Scene &s) { s.io.w.stride_bytes[2] = 3; }},
            {"extent[2]", "-1", "at least 0", [](Scene &s) { s.io.extent[2] = -1; }},
            {"extent[2]", "-9223372036854775808", "at least 0", [](Scene &s) { s.io.extent[2] = INT64_MIN; }},
            {"extent", "4611686018427387904", "overflow", [](Scene &s) { s.io.extent[2] = huge; }},
            {"x.stride_bytes[2]", "4611686018427387904", "overflow", [](Scene &s) { s.io.x.stride_bytes[2] = huge; }},
            {"y.stride_bytes[2]", "9223372036854775804", "overflow",
             [](Scene &s) { s.io.y.stride_bytes[2] = INT64_MAX - 3; }},
            {"x", "0xfffffffffffffff0", "overflow",
             [](Scene &s) { s.io.x.data = reinterpret_cast<void *>(UINTPTR_MAX - 15); }},
            {"y", "x", "disjoint", [](Scene &s) { s.io.y.data = s.at(0) + 4; }},
            {"y", "x", "disjoint",
             [](Scene &s) {
                 s.io.y = {s.at(0), {0, 0, 84}};
             }},
            {"y", "x", "disjoint", [](Scene &s) { s.io.y.data = s.at(0) + Scene::row_bytes; }},
            {"y", "w", "disjoint", [](Scene &s) { s.io.w.data = s.at(5) + 4; }},
            {"y", "b", "disjoint", [](Scene &s) { s.io.b.data = s.at(6) - 20; }},
            {"y", "stride", "must not overlap", [](Scene &s) { s.io.y.stride_bytes[2] = 60; }},
            {"y", "stride", "must not overlap", [](Scene &s) { s.io.y.stride_bytes[2] = 0; }},
        };
        for (const Broken &broken : list) {
            CAPTURE(broken.argument);
            CAPTURE(broken.value);
            Scene scene;
            scene.make_plain();
            broken.edit(scene);
            check_refused(scene, {broken.argument, broken.value, broken.rule});
        }
        Scene scene;
        scene.make_plain();
        check_accepted(scene);
    }

    TEST_CASE("strides of dimensions with one row do not matter") {
        Scene scene;
        scene.io.extent[0] = scene.io.extent[1] = 1;
        for (rownorm_input *in : {&scene.io.x, &scene.io.residual, &scene.io.w, &scene.io.b})
            in->stride_bytes[0] = in->stride_bytes[1] = -7;
        for (rownorm_output *out : {&scene.io.y, &scene.io.residual_out})
            out->stride_bytes[0] = out->stride_bytes[1] = INT64_MAX;
        check_accepted(scene);
    }

    TEST_CASE("zero rows: nothing is read or written, pointers may be NULL") {
        for (int dimension = 0; dimension < 3; ++dimension) {
            Scene scene;
            scene.io.extent[dimension] = 0;
            const std::vector<unsigned char> before = scene.bytes;
            check_accepted(scene);
            scene.io.extent[(dimension + 1) % 3] = INT64_MAX;
            scene.io.x = scene.io.residual = scene.io.w = scene.io.b = {};
            scene.io.y = scene.io.residual_out = {};
            scene.io.mean = scene.io.rstd = nullptr;
            check_accepted(scene);
            CHECK(scene.bytes == before);
        }
        // A negative extent is wrong also next to a zero.
        Scene scene;
        scene.io.extent[0] = 0;
        scene.io.extent[1] = -3;
        check_refused(scene, {"extent[1]", "-3"});
    }

    TEST_CASE("parts") {
        Scene scene;
        const Plan plan(scene.d);
        const std::vector<unsigned char> before = scene.bytes;
        struct Parts {
            std::int64_t part, parts;
        };
        for (const Parts p :
             {Parts{0, 0}, {-1, 4}, {4, 4}, {5, 4}, {0, -1}, {INT64_MAX, 1}, {INT64_MIN, 3}, {-1, -2}}) {
            CHECK(rownorm_execute_part(plan, &scene.io, p.part, p.parts) == ROWNORM_INVALID_ARGUMENT);
            CHECK(message_lacks({"part", std::to_string(p.part), std::to_string(p.parts)}) == "");
        }
        CHECK(scene.bytes == before);
        // More parts than rows, and very many: some are empty, none fails.
        for (const std::int64_t parts : {25L, 1000L, long{INT64_MAX}})
            for (const std::int64_t part : {std::int64_t{0}, parts / 2, parts - 1})
                CHECK(rownorm_execute_part(plan, &scene.io, part, parts) == ROWNORM_OK);
    }
}
