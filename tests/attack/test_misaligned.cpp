// SPDX-License-Identifier: Apache-2.0
//
// Pointers and strides that are no multiples of the element, in every mix of sizes: an argument of 4 bytes an
// element beside ones of 2 was once taken at a multiple of 2.
#include "../formats.hpp"
#include "../scene.hpp"

#include <doctest/doctest.h>

using namespace rownorm_test;

namespace {

/// The plainest call (one dimension, no residual), or the fullest.
Scene scene_of(const Mix &mix, bool plain) {
    Scene scene;
    scene.d.x_type = mix.x;
    scene.d.y_type = mix.y;
    scene.d.residual_type = mix.residual;
    scene.d.weight_type = mix.weight;
    scene.d.n = 8; // a row of f64 fits the scene's 80 bytes
    if (plain)
        scene.make_plain();
    return scene;
}

struct Place {
    const char *name;
    rownorm_type type;
    char *data;
    std::int64_t *stride;
};

std::vector<Place> places(Scene &s, const Mix &mix) {
    const auto at = [](const void *data) { return static_cast<char *>(const_cast<void *>(data)); };
    std::vector<Place> all;
    const auto add = [&](const char *name, rownorm_type type, auto &tensor) {
        if (tensor.data != nullptr)
            all.push_back({name, type, at(tensor.data), tensor.stride_bytes});
    };
    add("x", mix.x, s.io.x);
    add("y", mix.y, s.io.y);
    add("w", mix.weight, s.io.w);
    add("b", mix.weight, s.io.b);
    add("residual", mix.residual, s.io.residual);
    add("residual_out", mix.residual, s.io.residual_out);
    return all;
}

void move_to(Scene &s, std::size_t place, char *data) {
    rownorm_input *const inputs[] = {&s.io.x, nullptr, &s.io.w, &s.io.b, &s.io.residual, nullptr};
    if (inputs[place] != nullptr)
        inputs[place]->data = data;
    else
        (place == 1 ? s.io.y : s.io.residual_out).data = data;
}

/// Each argument's address and last stride off by every number of bytes below an element of 8.
void check_offsets(const Mix &mix, bool plain) {
    Scene scene = scene_of(mix, plain);
    check_accepted(scene);
    const std::vector<Place> all = places(scene, mix);
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::int64_t off = 1; off < 8; ++off) {
            const auto size = static_cast<std::int64_t>(size_of(all[i].type));
            CAPTURE(std::string(all[i].name));
            CAPTURE(off);
            CAPTURE(size);
            move_to(scene, i, all[i].data + off);
            off % size == 0 ? check_accepted(scene) : check_refused(scene, {all[i].name, "multiple"});
            move_to(scene, i, all[i].data);
            const std::int64_t stride = all[i].stride[2];
            all[i].stride[2] = stride + (off % size == 0 ? 0 : off); // an even one would leave the nesting
            off % size == 0 ? check_accepted(scene) : check_refused(scene, {all[i].name, "multiple"});
            all[i].stride[2] = stride;
        }
}

} // namespace

TEST_SUITE("attack: misaligned") {
    TEST_CASE("every argument, in every mix of types, in plain calls and in full ones") {
        for (const Mix &mix : every_mix(true))
            for (const bool plain : {true, false}) {
                CAPTURE(mix.x);
                CAPTURE(mix.y);
                CAPTURE(mix.weight);
                CAPTURE(plain);
                check_offsets(mix, plain);
            }
    }

    TEST_CASE("one-line calls") {
        std::vector<float> memory(64, 1.0F);
        const auto off = [&](std::size_t floats, std::size_t bytes) {
            return reinterpret_cast<float *>(reinterpret_cast<char *>(memory.data() + floats) + bytes);
        };
        for (const std::size_t bytes : {1U, 2U, 3U}) {
            CHECK(rownorm_rms_norm_f32(off(0, bytes), off(16, 0), off(32, 0), 2, 4, 0) == ROWNORM_INVALID_ARGUMENT);
            CHECK(rownorm_rms_norm_f32(off(0, 0), off(16, bytes), off(32, 0), 2, 4, 0) == ROWNORM_INVALID_ARGUMENT);
            CHECK(rownorm_rms_norm_f32(off(0, 0), off(16, 0), off(32, bytes), 2, 4, 0) == ROWNORM_INVALID_ARGUMENT);
        }
    }
}
