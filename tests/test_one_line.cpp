// SPDX-License-Identifier: Apache-2.0
//
// The one-line calls: the bits of the plan's way, their rules, nothing allocated.
#include "broken.hpp"
#include "formats.hpp"
#include "fp_state.hpp"
#include "usual_way.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <limits>

using namespace rownorm_test;

namespace {

/// The nine calls as three, by type.
rownorm_status rms_norm(rownorm_type type, void *y, const void *x, const void *w, std::int64_t rows, std::int64_t n,
                        float eps) {
    if (type == ROWNORM_F32)
        return rownorm_rms_norm_f32(static_cast<float *>(y), static_cast<const float *>(x),
                                    static_cast<const float *>(w), rows, n, eps);
    const auto call = type == ROWNORM_F16 ? rownorm_rms_norm_f16 : rownorm_rms_norm_bf16;
    return call(static_cast<std::uint16_t *>(y), static_cast<const std::uint16_t *>(x),
                static_cast<const std::uint16_t *>(w), rows, n, eps);
}

rownorm_status add_rms_norm(rownorm_type type, void *y, void *residual, const void *x, const void *w, std::int64_t rows,
                            std::int64_t n, float eps) {
    if (type == ROWNORM_F32)
        return rownorm_add_rms_norm_f32(static_cast<float *>(y), static_cast<float *>(residual),
                                        static_cast<const float *>(x), static_cast<const float *>(w), rows, n, eps);
    const auto call = type == ROWNORM_F16 ? rownorm_add_rms_norm_f16 : rownorm_add_rms_norm_bf16;
    return call(static_cast<std::uint16_t *>(y), static_cast<std::uint16_t *>(residual),
                static_cast<const std::uint16_t *>(x), static_cast<const std::uint16_t *>(w), rows, n, eps);
}

rownorm_status layer_norm(rownorm_type type, void *y, const void *x, const void *w, const void *b, std::int64_t rows,
                          std::int64_t n, float eps) {
    if (type == ROWNORM_F32)
        return rownorm_layer_norm_f32(static_cast<float *>(y), static_cast<const float *>(x),
                                      static_cast<const float *>(w), static_cast<const float *>(b), rows, n, eps);
    const auto call = type == ROWNORM_F16 ? rownorm_layer_norm_f16 : rownorm_layer_norm_bf16;
    return call(static_cast<std::uint16_t *>(y), static_cast<const std::uint16_t *>(x),
                static_cast<const std::uint16_t *>(w), static_cast<const std::uint16_t *>(b), rows, n, eps);
}

constexpr rownorm_type types[] = {ROWNORM_F32, ROWNORM_F16, ROWNORM_BF16};

Case make(rownorm_type type, int formula, std::int64_t rows, std::int64_t n) {
    Case c;
    c.mix = {type, type, type, type};
    c.rows = rows;
    c.n = n;
    set_formula(c, formula);
    c.eps = static_cast<double>(1e-5F);
    c.seed = static_cast<std::uint64_t>(rows + n);
    return c;
}

/// Any of the nine with a gain, and LayerNorm with a bias. The residual is written over in `out`, which has its size.
rownorm_status call(const Case &c, const Inputs &in, float eps, Outputs &out) {
    if (c.residual)
        return add_rms_norm(c.mix.x, out.y.data(), out.residual_out.data(), in.x.data(), in.w.data(), c.rows, c.n, eps);
    if (c.op == ROWNORM_LAYER_NORM)
        return layer_norm(c.mix.x, out.y.data(), in.x.data(), in.w.data(), in.b.data(), c.rows, c.n, eps);
    return rms_norm(c.mix.x, out.y.data(), in.x.data(), in.w.data(), c.rows, c.n, eps);
}

/// RMSNorm, RMSNorm of a sum, LayerNorm.
constexpr int ops = 3;
Case with_weights(rownorm_type type, int op, std::int64_t rows, std::int64_t n) {
    Case c = make(type, op == 2 ? 2 : 0, rows, n);
    c.residual = op == 1;
    c.gain = true;
    c.bias = op == 2;
    return c;
}

void check_call(const Case &c, const Inputs &in, float eps, const Outputs &expected) {
    Outputs out{in.x, in.residual, {}, {}};
    CHECK(call(c, in, eps, out) == ROWNORM_OK);
    const std::string text = difference(c, expected, out);
    if (!text.empty())
        report(c, {}, "a one-line call: " + text);
}

const void *or_null(const std::vector<std::byte> &bytes) { return bytes.empty() ? nullptr : bytes.data(); }

} // namespace

TEST_SUITE("one-line calls") {
    TEST_CASE("give the bits of a plan, with and without gain and bias, in place or not") {
        for (const rownorm_type type : types)
            for (const std::int64_t n : {1, 7, 64, 130, 1030})
                for (const std::int64_t rows : {1, 3, test_scale() < 1 ? 20 : 700})
                    for (int arguments = 0; arguments < 4; ++arguments) {
                        Case c = make(type, 0, rows, n);
                        c.gain = arguments % 2 == 1;
                        const Inputs in = make_inputs(c);
                        std::vector<std::byte> y = in.x;
                        CHECK(rms_norm(type, y.data(), y.data(), or_null(in.w), rows, n, 1e-5F) == ROWNORM_OK);
                        CHECK(difference(type, run(c, in).y, y, "y") == "");

                        Case layer = make(type, 2, rows, n);
                        layer.gain = c.gain;
                        layer.bias = arguments / 2 == 1;
                        const Inputs all = make_inputs(layer);
                        CHECK(layer_norm(type, y.data(), all.x.data(), or_null(all.w), or_null(all.b), rows, n,
                                         1e-5F) == ROWNORM_OK);
                        CHECK(difference(type, run(layer, all).y, y, "y") == "");

                        c.residual = true;
                        const Inputs both = make_inputs(c);
                        std::vector<std::byte> residual = both.residual;
                        CHECK(add_rms_norm(type, y.data(), residual.data(), both.x.data(), or_null(both.w), rows, n,
                                           1e-5F) == ROWNORM_OK);
                        const Outputs expected = run(c, both);
                        CHECK(difference(type, expected.y, y, "y") == "");
                        CHECK(difference(type, expected.residual_out, residual, "residual") == "");
                    }
    }

    TEST_CASE("of a few rows, to any of which the arithmetic of f32 may not hold, give the bits of the usual way") {
        std::uint64_t member = 0;
        constexpr std::int64_t most = 40;
        for (const rownorm_type type : types)
            for (int op = 0; op < ops; ++op)
                for (const std::int64_t n : {8, 16, 33, 64, 128, 256}) {
                    Case c = with_weights(type, op, most, n);
                    const Inputs all = make_inputs(c);
                    const Outputs expected = the_usual_way(c, all);
                    for (std::int64_t rows = 1; rows <= most; ++rows) {
                        if (!kept(++member))
                            continue;
                        c.rows = rows;
                        check_call(c, first_rows(all, most, rows), 1e-5F, first_rows(expected, most, rows));
                        // One row of zeros, which needs eps.
                        Inputs zero = all;
                        zero.x.assign(zero.x.size(), std::byte{0});
                        zero.residual.assign(zero.residual.size(), std::byte{0});
                        const auto odd = static_cast<std::size_t>(member) % static_cast<std::size_t>(rows);
                        const Inputs in = first_rows(with_row(all, zero, most, odd), most, rows);
                        c.eps = 0;
                        check_call(c, in, 0, the_usual_way(c, in));
                        c.eps = static_cast<double>(1e-5F);
                    }
                }
    }

    TEST_CASE("take any eps as it is, in any floating-point state") {
        std::uint64_t member = 0;
        for (const rownorm_type type : types)
            for (int op = 0; op < ops; ++op)
                for (const std::int64_t rows : {1, 2, 20})
                    for (const float eps : {0.0F, -0.0F, 0x1p-149F, 1e-40F, 0x1p-126F, 1e30F})
                        for (const FpState &state : fp_states) {
                            if (!kept(++member))
                                continue;
                            Case c = with_weights(type, op, rows, 64);
                            c.data = member % 2 == 0 ? Data::normal : Data::tiny; // of those eps is a part
                            Inputs in = make_inputs(c);
                            if (c.data == Data::tiny && type != ROWNORM_F16)
                                in.x = elements(type, std::vector<long double>(static_cast<std::size_t>(rows * c.n),
                                                                               static_cast<long double>(1e-20)));
                            c.eps = static_cast<double>(eps);
                            const Outputs expected = the_usual_way(c, in);
                            Outputs found{in.x, in.residual, {}, {}};
                            rownorm_status status = ROWNORM_OK;
                            std::uint64_t taken = 0;
                            INFO(state.name);
                            CHECK(in_fp_state(state.bits, taken, [&] { status = call(c, in, eps, found); }) == taken);
                            CHECK(status == ROWNORM_OK);
                            CHECK(difference(c, expected, found) == "");
                        }
    }

    TEST_CASE("refuse what breaks a rule, and write nothing") {
        for (const rownorm_type type : types) {
            std::vector<std::byte> buffer(4096, std::byte{0x3c});
            const std::vector<std::byte> before = buffer;
            std::byte *const x = buffer.data(), *const y = x + 1024, *const w = x + 2048, *const r = x + 3072;
            const float infinity = std::numeric_limits<float>::infinity();
            struct Call {
                std::function<rownorm_status()> run;
                const char *argument, *value;
            };
            const Call calls[] = {
                {[&] { return rms_norm(type, nullptr, x, w, 2, 8, 0); }, "y", "NULL"},
                {[&] { return rms_norm(type, y, nullptr, w, 2, 8, 0); }, "x", "NULL"},
                {[&] { return rms_norm(type, y, x, w, 2, 0, 0); }, "n", "0"},
                {[&] { return rms_norm(type, y, x, w, 0, -4, 0); }, "n", "-4"},
                {[&] { return rms_norm(type, y, x, w, -2, 8, 0); }, "rows", "-2"},
                {[&] { return rms_norm(type, y, x, w, 2, 8, -1.0F); }, "eps", "-1"},
                {[&] { return rms_norm(type, y, x, w, 2, 8, -1e-45F); }, "eps", "-1.4"},
                {[&] { return rms_norm(type, y, x, w, 2, 8, infinity); }, "eps", "inf"},
                {[&] { return rms_norm(type, y, x, w, 2, 8, std::numeric_limits<float>::quiet_NaN()); }, "eps", "nan"},
                // One row, which has a way of its own.
                {[&] { return rms_norm(type, y, x, w, 1, 64, -1.0F); }, "eps", "-1"},
                {[&] { return rms_norm(type, y, x, w, 1, 64, -1e-45F); }, "eps", "-1.4"},
                {[&] { return add_rms_norm(type, y, r, x, w, 1, 64, infinity); }, "eps", "inf"},
                {[&] { return layer_norm(type, y, x, w, r, 1, 64, std::numeric_limits<float>::quiet_NaN()); }, "eps",
                 "nan"},
                {[&] { return rms_norm(type, x + 4, x, w, 1, 64, 0); }, "y", "x"},
                {[&] { return rms_norm(type, w, x, w, 1, 64, 0); }, "y", "w"},
                {[&] { return layer_norm(type, y, x, w, y, 1, 64, 0); }, "y", "b"},
                {[&] { return add_rms_norm(type, r, r, x, w, 1, 64, 0); }, "y", "residual"},
                {[&] { return add_rms_norm(type, y, w, x, w, 1, 64, 0); }, "residual", "w"},
                {[&] { return add_rms_norm(type, y, nullptr, x, w, 1, 64, 0); }, "residual", "NULL"},
                {[&] { return rms_norm(type, y, x, w, INT64_C(1) << 62, 4, 0); }, "extent", "4611686018427387904"},
                {[&] { return rms_norm(type, y, x, w, INT64_C(1) << 40, INT64_C(1) << 40, 0); }, "overflow", ""},
                {[&] { return rms_norm(type, y + 1, x, w, 2, 8, 0); }, "y", "multiple"},
                {[&] { return rms_norm(type, y, x + 1, w, 2, 8, 0); }, "x", "multiple"},
                {[&] { return rms_norm(type, x + 4, x, w, 2, 8, 0); }, "y", "x"},
                {[&] { return rms_norm(type, w, x, w, 2, 8, 0); }, "y", "w"},
                {[&] { return add_rms_norm(type, y, nullptr, x, w, 2, 8, 0); }, "residual", "NULL"},
                {[&] { return add_rms_norm(type, r, r, x, w, 2, 8, 0); }, "y", "residual"},
                {[&] { return add_rms_norm(type, y, r, nullptr, w, 2, 8, 0); }, "x", "NULL"},
                {[&] { return layer_norm(type, y, x, w, y, 2, 8, 0); }, "y", "b"},
                {[&] { return layer_norm(type, nullptr, x, w, nullptr, 2, 8, 0); }, "y", "NULL"},
            };
            for (const Call &call : calls) {
                CAPTURE(call.argument);
                CAPTURE(call.value);
                CHECK(call.run() == ROWNORM_INVALID_ARGUMENT);
                CHECK(message_lacks({call.argument, call.value}) == "");
            }
            CHECK(buffer == before);
        }
    }

    TEST_CASE("take no rows with NULL pointers, and an eps of -0") {
        for (const rownorm_type type : types) {
            CHECK(rms_norm(type, nullptr, nullptr, nullptr, 0, 8, 1e-5F) == ROWNORM_OK);
            CHECK(add_rms_norm(type, nullptr, nullptr, nullptr, nullptr, 0, 8, 1e-5F) == ROWNORM_OK);
            CHECK(layer_norm(type, nullptr, nullptr, nullptr, nullptr, 0, 8, 1e-5F) == ROWNORM_OK);
            const std::vector<std::byte> x = elements(type, {3, -3, 3, -3});
            std::vector<std::byte> y(x.size());
            CHECK(rms_norm(type, y.data(), x.data(), nullptr, 1, 4, -0.0F) == ROWNORM_OK);
            CHECK(y == elements(type, {1, -1, 1, -1}));
        }
    }
}
