// SPDX-License-Identifier: Apache-2.0
//
// A call with every argument there, ready to be broken: LayerNorm of 2 x 3 x 4 rows of 16 numbers with
// gaps between them, in one block of memory so that arguments can be moved onto each other.
#pragma once

#include "broken.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace rownorm_test {

class Scene {
public:
    static constexpr std::int64_t n = 16, rows = 24, row_bytes = 80, tensor_bytes = rows * row_bytes;

    explicit Scene(rownorm_type type = ROWNORM_F32) : bytes(10 * tensor_bytes, 0x11) {
        Case c;
        c.op = ROWNORM_LAYER_NORM;
        c.mix = {type, type, type, type};
        c.n = n;
        d = descriptor_of(c);
        io.struct_size = sizeof io;
        io.extent[0] = 2;
        io.extent[1] = 3;
        io.extent[2] = 4;
        io.x = {at(0), {12 * row_bytes, 4 * row_bytes, row_bytes}};
        io.residual = {at(1), {12 * row_bytes, 4 * row_bytes, row_bytes}};
        io.w = {at(2), {0, 0, 0}};
        io.b = {at(3), {0, 0, 0}};
        io.residual_out = {at(4), {12 * row_bytes, 4 * row_bytes, row_bytes}};
        io.y = {at(5), {12 * row_bytes, 4 * row_bytes, row_bytes}};
        io.mean = at(6);
        io.rstd = at(7);
    }

    /// As most calls are: one dimension of rows, no residual, no statistics.
    void make_plain() {
        io.extent[0] = io.extent[1] = 1;
        io.extent[2] = rows;
        io.residual = {};
        io.residual_out = {};
        io.mean = io.rstd = nullptr;
    }

    unsigned char *at(std::int64_t tensor) { return bytes.data() + tensor * tensor_bytes; }

    std::vector<unsigned char> bytes;
    rownorm_descriptor d;
    rownorm_io io = {};
};

inline int run_each(void *, std::size_t tasks, rownorm_task_fn task, void *context) {
    for (std::size_t i = 0; i < tasks; ++i)
        task(context, i);
    return 0;
}

/// All ways to run refuse with this status, say these words, and write nothing.
inline void check_refused(Scene &scene, std::initializer_list<std::string> words,
                          rownorm_status status = ROWNORM_INVALID_ARGUMENT) {
    const std::vector<unsigned char> before = scene.bytes;
    const Plan plan(scene.d);
    REQUIRE(plan.status() == ROWNORM_OK);
    CHECK(rownorm_execute(plan, &scene.io) == status);
    CHECK(message_lacks(words) == "");
    CHECK(rownorm_execute_part(plan, &scene.io, 0, 1) == status);
    CHECK(message_lacks(words) == "");
    CHECK(rownorm_execute_part(plan, &scene.io, 6, 7) == status);
    CHECK(rownorm_execute_on(plan, &scene.io, run_each, nullptr) == status);
    CHECK(message_lacks(words) == "");
    CHECK(scene.bytes == before);
}

inline void check_accepted(Scene &scene) {
    const Plan plan(scene.d);
    REQUIRE(plan.status() == ROWNORM_OK);
    CHECK(rownorm_execute(plan, &scene.io) == ROWNORM_OK);
    CHECK(rownorm_execute_part(plan, &scene.io, 0, 1) == ROWNORM_OK);
    CHECK(rownorm_execute_on(plan, &scene.io, run_each, nullptr) == ROWNORM_OK);
}

} // namespace rownorm_test
