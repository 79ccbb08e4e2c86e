// SPDX-License-Identifier: Apache-2.0
//
// Layouts that engines really have: slices of one QKV buffer, one row for many, gains per head.
#include "formats.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

using namespace rownorm_test;

namespace {

constexpr std::int64_t tokens = 5, heads = 3, n = 20;

Case head_case(const Mix &mix, int formula) {
    Case c;
    c.mix = mix;
    c.rows = tokens * heads;
    c.n = n;
    set_formula(c, formula);
    c.gain = true;
    c.eps = 1e-5;
    return c;
}

rownorm_io io_of(const std::byte *x, std::byte *y, const std::byte *w, std::int64_t x_head, std::int64_t x_token,
                 std::int64_t y_head, std::int64_t y_token) {
    rownorm_io io = {};
    io.struct_size = sizeof io;
    io.extent[0] = 1;
    io.extent[1] = tokens;
    io.extent[2] = heads;
    io.x = {x, {0, x_token, x_head}};
    io.y = {y, {0, y_token, y_head}};
    io.w = {w, {0, 0, 0}};
    return io;
}

rownorm_status execute(const Case &c, const rownorm_io &io, const std::string &isa) {
    rownorm_descriptor d = descriptor_of(c);
    d.isa = isa.c_str();
    const Plan plan(d);
    return plan.status() != ROWNORM_OK ? plan.status() : rownorm_execute(plan, &io);
}

/// A fused QKV buffer: each token has `heads` rows of q, then of k, then of v.
struct Qkv {
    Qkv(const Case &c, const Inputs &in)
        : size(size_of(c.mix.x)), slice(static_cast<std::size_t>(heads * n) * size),
          bytes(3 * slice * static_cast<std::size_t>(tokens), std::byte{0xff}) {
        for (std::size_t token = 0; token < tokens; ++token)
            std::memcpy(q(token), in.x.data() + token * slice, slice);
    }
    std::byte *q(std::size_t token) { return bytes.data() + token * 3 * slice; }
    std::byte *k(std::size_t token) { return q(token) + slice; }
    std::byte *v(std::size_t token) { return k(token) + slice; }

    std::size_t size, slice;
    std::vector<std::byte> bytes; // 0xff..ff is a NaN in every type: reading a wrong row shows
};

} // namespace

TEST_SUITE("layout") {
    TEST_CASE("a q slice in, the k slice of the same buffer out") {
        for (const Mix &mix : main_mixes()) {
            if (size_of(mix.x) != size_of(mix.y))
                continue;
            for (int formula = 0; formula < formulas; ++formula)
                for (const std::string &isa : isas()) {
                    const Case c = head_case(mix, formula);
                    const Inputs in = make_inputs(c);
                    const Outputs expected = check(c, in).outputs;
                    Qkv qkv(c, in);
                    const auto head = static_cast<std::int64_t>(n * static_cast<std::int64_t>(qkv.size));
                    const rownorm_io io = io_of(qkv.q(0), qkv.k(0), in.w.data(), head, 9 * head, head, 9 * head);
                    REQUIRE(execute(c, io, isa) == ROWNORM_OK);
                    std::vector<std::byte> k;
                    bool q_and_v_kept = true;
                    for (std::size_t token = 0; token < tokens; ++token) {
                        k.insert(k.end(), qkv.k(token), qkv.k(token) + qkv.slice);
                        q_and_v_kept &= std::memcmp(qkv.q(token), in.x.data() + token * qkv.slice, qkv.slice) == 0;
                        q_and_v_kept &= std::all_of(qkv.v(token), qkv.v(token) + qkv.slice,
                                                    [](std::byte b) { return b == std::byte{0xff}; });
                    }
                    CHECK(difference(mix.y, expected.y, k, "k") == "");
                    CHECK(q_and_v_kept);
                }
        }
    }

    TEST_CASE("a slice of a wide row in, rows of three strides out") {
        const Case c = head_case({}, 0);
        const Inputs in = make_inputs(c);
        const Outputs expected = check(c, in).outputs;
        for (const std::string &isa : isas())
            for (const std::int64_t stride : {n, n + 3, 3 * n}) {
                Qkv qkv(c, in);
                std::vector<float> y(static_cast<std::size_t>(stride * tokens * heads), 0.5F);
                const std::int64_t head = n * 4;
                const rownorm_io io = io_of(qkv.q(0), reinterpret_cast<std::byte *>(y.data()), in.w.data(), head,
                                            9 * head, stride * 4, stride * 4 * heads);
                REQUIRE(execute(c, io, isa) == ROWNORM_OK);
                std::vector<std::byte> dense(expected.y.size());
                bool gaps_kept = true;
                for (std::size_t row = 0; row < tokens * heads; ++row) {
                    const float *const from = &y[row * static_cast<std::size_t>(stride)];
                    std::memcpy(&dense[row * n * 4], from, n * 4);
                    gaps_kept &= std::all_of(from + n, from + stride, [](float f) { return f == 0.5F; });
                }
                CHECK(difference(ROWNORM_F32, expected.y, dense, "y") == "");
                CHECK(gaps_kept);
            }
    }

    TEST_CASE("a stride of 0 uses one row of x or of the residual for a whole dimension") {
        for (const Mix &mix : main_mixes())
            for (const bool of_x : {false, true}) {
                Case c = head_case(mix, 2);
                c.residual = true;
                Inputs in = make_inputs(c);
                std::vector<std::byte> &many = of_x ? in.x : in.residual;
                const std::size_t row = many.size() / static_cast<std::size_t>(c.rows);
                for (std::size_t r = 1; r < static_cast<std::size_t>(c.rows); ++r)
                    std::memcpy(&many[r * row], many.data(), row);
                const Outputs expected = check(c, in).outputs;
                const rownorm_descriptor d = descriptor_of(c);
                std::vector<std::byte> y(expected.y.size());
                rownorm_io io = rownorm_dense_io(&d, c.rows);
                io.x.data = in.x.data();
                io.residual.data = in.residual.data();
                io.w.data = in.w.data();
                io.y.data = y.data();
                (of_x ? io.x : io.residual).stride_bytes[2] = 0;
                const Plan plan(d);
                REQUIRE(rownorm_execute(plan, &io) == ROWNORM_OK);
                CHECK(difference(mix.y, expected.y, y, "y") == "");
            }
    }

    TEST_CASE("a gain and a bias for each head") {
        for (const Mix &mix : main_mixes())
            for (int formula = 0; formula < formulas; ++formula) {
                Case c = head_case(mix, formula);
                c.bias = true;
                // All heads' gains and biases as one long row each; then each head as a case of its own.
                Case wide = c;
                wide.n = heads * n;
                const Inputs in = make_inputs(c), weights = make_inputs(wide);
                const rownorm_descriptor d = descriptor_of(c);
                const auto x_row = n * static_cast<std::int64_t>(size_of(mix.x));
                const auto y_row = n * static_cast<std::int64_t>(size_of(mix.y));
                const auto w_row = n * static_cast<std::int64_t>(size_of(mix.weight));
                std::vector<std::byte> together(static_cast<std::size_t>(c.rows * y_row)), apart = together;
                const Plan plan(d);
                rownorm_io io =
                    io_of(in.x.data(), together.data(), weights.w.data(), x_row, heads * x_row, y_row, heads * y_row);
                io.b.data = weights.b.data();
                io.w.stride_bytes[2] = io.b.stride_bytes[2] = w_row;
                REQUIRE(rownorm_execute(plan, &io) == ROWNORM_OK);
                for (std::int64_t head = 0; head < heads; ++head) {
                    rownorm_io one = io_of(in.x.data() + head * x_row, apart.data() + head * y_row,
                                           weights.w.data() + head * w_row, 0, heads * x_row, 0, heads * y_row);
                    one.extent[2] = 1;
                    one.b.data = weights.b.data() + head * w_row;
                    REQUIRE(rownorm_execute(plan, &one) == ROWNORM_OK);
                }
                CHECK(difference(mix.y, apart, together, "y") == "");
            }
    }
}
