// SPDX-License-Identifier: Apache-2.0
//
// Which arguments may share memory: what is refused, and what looks alike and is legal.
#include "scene.hpp"

using namespace rownorm_test;

namespace {

constexpr std::int64_t row = Scene::row_bytes;

/// The tensors by name, so that each pair can be put onto each other.
void *&data_of(Scene &s, const std::string &name) {
    if (name == "y")
        return s.io.y.data;
    if (name == "residual_out")
        return s.io.residual_out.data;
    return name == "mean" ? s.io.mean : s.io.rstd;
}

const void *&input_of(Scene &s, const std::string &name) {
    if (name == "x")
        return s.io.x.data;
    if (name == "residual")
        return s.io.residual.data;
    return name == "w" ? s.io.w.data : s.io.b.data;
}

/// Puts an output `offset` bytes after an input, which lies where there is room on either side.
void put_over(Scene &s, const std::string &output, const std::string &input, std::int64_t offset) {
    input_of(s, input) = s.at(8);
    data_of(s, output) = s.at(8) + offset;
}

} // namespace

TEST_SUITE("ABI: overlap") {
    TEST_CASE("no output shares a byte with a gain or bias") {
        for (const std::string output : {"y", "residual_out", "mean", "rstd"})
            for (const std::string input : {"w", "b"})
                for (const std::int64_t offset : {0, 4, 60}) {
                    Scene scene;
                    put_over(scene, output, input, offset);
                    check_refused(scene, {output, input, "disjoint"});
                }
        Scene scene; // right behind the 16 elements: legal
        scene.io.mean = scene.at(2) + 64;
        check_accepted(scene);
    }

    TEST_CASE("two outputs never share a byte") {
        const char *const outputs[] = {"y", "residual_out", "mean", "rstd"};
        for (int i = 0; i < 4; ++i)
            for (int j = i + 1; j < 4; ++j)
                for (const std::int64_t offset : {0, 4}) {
                    Scene scene;
                    data_of(scene, outputs[j]) = static_cast<unsigned char *>(data_of(scene, outputs[i])) + offset;
                    check_refused(scene, {outputs[i], outputs[j]});
                }
    }

    TEST_CASE("y and residual_out over an input: exactly, or not at all") {
        for (const std::string output : {"y", "residual_out"})
            for (const std::string input : {"x", "residual"}) {
                Scene exact;
                put_over(exact, output, input, 0);
                check_accepted(exact);
                for (const std::int64_t offset :
                     {std::int64_t{4}, std::int64_t{60}, std::int64_t{-4}, row, 4 * row, -row}) {
                    Scene scene;
                    put_over(scene, output, input, offset);
                    check_refused(scene, {output, input});
                }
                for (const int dimension : {0, 1, 2}) { // the same address and other strides
                    Scene scene;
                    put_over(scene, output, input, 0);
                    rownorm_output &out = output == "y" ? scene.io.y : scene.io.residual_out;
                    scene.io.extent[0] = scene.io.extent[1] = scene.io.extent[2] = 1;
                    scene.io.extent[dimension] = 2;
                    out.stride_bytes[dimension] = 64;
                    check_refused(scene, {output, input});
                }
            }
    }

    TEST_CASE("no output over mean or rstd of an input row, no statistics over inputs") {
        for (const std::string output : {"mean", "rstd"})
            for (const std::string input : {"x", "residual"}) {
                Scene scene;
                put_over(scene, output, input, 0);
                check_refused(scene, {output, input, "disjoint"});
            }
    }

    TEST_CASE("in place needs the same element size, not the same type") {
        Scene scene(ROWNORM_BF16);
        scene.d.y_type = ROWNORM_F16;
        scene.io.y = {scene.at(0), {12 * row, 4 * row, row}};
        check_accepted(scene);
        scene.d.y_type = ROWNORM_F32;
        check_refused(scene, {"y", "x", "element size"});
    }

    TEST_CASE("rows of an output do not overlap each other") {
        const std::int64_t wrong[][3] = {
            {12 * row, 4 * row, 0},   {12 * row, 0, row},      {0, 4 * row, row},
            {12 * row, 4 * row, 60},  {12 * row, row, row},    {4 * row, 4 * row, row},
            {12 * row, 3 * row, row}, {4 * row, 2 * row, row}, {row / 2, 4 * row, row},
        };
        for (const auto &strides : wrong)
            for (const bool of_y : {false, true}) {
                Scene scene;
                std::copy_n(strides, 3, of_y ? scene.io.y.stride_bytes : scene.io.residual_out.stride_bytes);
                check_refused(scene, {of_y ? "y" : "residual_out", "stride_bytes", "must not overlap"});
            }
        // Other orders of the dimensions, and just enough room.
        const std::int64_t right[][3] = {{row, 2 * row, 6 * row}, {3 * row, row, 6 * row}, {64 * 12, 64 * 4, 64}};
        for (const auto &strides : right) {
            Scene scene;
            std::copy_n(strides, 3, scene.io.y.stride_bytes);
            check_accepted(scene);
        }
        // In place over an input that is one row for all.
        Scene scene;
        scene.io.x = {scene.at(0), {0, 0, 0}};
        scene.io.y = {scene.at(0), {0, 0, 0}};
        check_refused(scene, {"y", "must not overlap"});
    }

    TEST_CASE("rows that interleave without sharing a byte are legal") {
        constexpr std::int64_t token = 3 * 64; // q, k and v of 16 numbers each
        Scene scene;
        scene.bytes.resize(8 * Scene::tensor_bytes + 25 * token);
        const std::array<std::int64_t, 3> dense{12 * row, 4 * row, row};
        const auto place = [&](std::int64_t y_offset) { // the block has moved
            scene.io.x = {scene.at(8), {12 * token, 4 * token, token}};
            scene.io.y = {scene.at(8) + y_offset, {12 * token, 4 * token, token}};
            scene.io.residual = {scene.at(1), {dense[0], dense[1], dense[2]}};
            scene.io.residual_out = {scene.at(4), {dense[0], dense[1], dense[2]}};
            scene.io.w.data = scene.at(2);
            scene.io.b.data = scene.at(3);
            scene.io.mean = scene.at(6);
            scene.io.rstd = scene.at(7);
        };
        for (const std::int64_t offset : {64, 128}) {
            place(offset);
            check_accepted(scene);
        }
        for (const std::int64_t offset : {4, 60, 132, 188, 192}) {
            place(offset);
            check_refused(scene, {"y", "x"});
        }
    }
}
