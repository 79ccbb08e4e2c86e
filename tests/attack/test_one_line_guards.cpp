// SPDX-License-Identifier: Apache-2.0
//
// One-line calls whose every argument lies up against a page that faults: each type, tiles and several of them, rows
// that are redone, and the bits of a plan.
#include "../formats.hpp"
#include "../run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

using namespace rownorm_test;

namespace {

/// A copy of bytes up against a page that faults.
Memory guarded(const std::vector<std::byte> &bytes, Guard guard) {
    Memory memory(bytes.size(), guard);
    std::memcpy(memory.data(), bytes.data(), bytes.size());
    return memory;
}

Memory read_only(const std::vector<std::byte> &bytes, Guard guard) {
    Memory memory = guarded(bytes, guard);
    memory.make_read_only();
    return memory;
}

/// The calls for elements of T.
template <class T>
struct Calls {
    rownorm_type type;
    rownorm_status (*rms)(T *, const T *, const T *, std::int64_t, std::int64_t, float);
    rownorm_status (*add_rms)(T *, T *, const T *, const T *, std::int64_t, std::int64_t, float);
    rownorm_status (*layer)(T *, const T *, const T *, const T *, std::int64_t, std::int64_t, float);
};

constexpr Calls<float> f32{ROWNORM_F32, rownorm_rms_norm_f32, rownorm_add_rms_norm_f32, rownorm_layer_norm_f32};
constexpr Calls<std::uint16_t> f16{ROWNORM_F16, rownorm_rms_norm_f16, rownorm_add_rms_norm_f16, rownorm_layer_norm_f16};
constexpr Calls<std::uint16_t> bf16{ROWNORM_BF16, rownorm_rms_norm_bf16, rownorm_add_rms_norm_bf16,
                                    rownorm_layer_norm_bf16};

Case make_case(rownorm_type type, std::int64_t rows, std::int64_t n, Data data) {
    Case c;
    c.mix = all_of(type);
    c.rows = rows;
    c.n = n;
    c.eps = 0;
    c.gain = true;
    c.data = data;
    c.seed = static_cast<std::uint64_t>(rows * n);
    return c;
}

/// All inputs that a call may want; row `tiny_row`, if there is one, of numbers whose squares underflow.
Inputs make_all(Case c, std::int64_t tiny_row) {
    c.bias = c.residual = true;
    Inputs in = make_inputs(c);
    c.data = Data::tiny;
    const Inputs tiny = make_inputs(c);
    const auto row = static_cast<std::ptrdiff_t>(in.x.size()) / c.rows;
    if (tiny_row >= 0)
        for (const auto part : {&Inputs::x, &Inputs::residual})
            std::copy_n((tiny.*part).begin() + tiny_row * row, row, (in.*part).begin() + tiny_row * row);
    return in;
}

template <class T>
void check_layer(const Calls<T> &call, Case c, const Inputs &in, Guard guard) {
    c.op = ROWNORM_LAYER_NORM;
    c.bias = true;
    const Memory x = read_only(in.x, guard), w = read_only(in.w, guard), b = read_only(in.b, guard);
    const Memory y(in.x.size(), guard);
    const auto of = [](const Memory &m) { return reinterpret_cast<T *>(m.data()); };
    CHECK(call.layer(of(y), of(x), of(w), of(b), c.rows, c.n, 0) == ROWNORM_OK);
    CHECK(difference(call.type, run(c, in).y, y.bytes(), "y") == "");
}

template <class T>
void check_rms(const Calls<T> &call, Case c, const Inputs &in, Guard guard) {
    c.residual = true;
    const Memory x = read_only(in.x, guard), w = read_only(in.w, guard);
    const Memory y(in.x.size(), guard), residual = guarded(in.residual, guard);
    const auto of = [](const Memory &m) { return reinterpret_cast<T *>(m.data()); };
    CHECK(call.add_rms(of(y), of(residual), of(x), of(w), c.rows, c.n, 0) == ROWNORM_OK);
    const Outputs added = run(c, in);
    CHECK(difference(call.type, added.y, y.bytes(), "y") == "");
    CHECK(difference(call.type, added.residual_out, residual.bytes(), "residual") == "");
    c.residual = false;
    CHECK(call.rms(of(y), of(x), of(w), c.rows, c.n, 0) == ROWNORM_OK);
    CHECK(difference(call.type, run(c, in).y, y.bytes(), "y") == "");
}

template <class T>
void check(const Calls<T> &call, std::int64_t rows, std::int64_t n, Data data, std::int64_t tiny_row) {
    const Case c = make_case(call.type, rows, n, data);
    const Inputs in = make_all(c, tiny_row);
    CAPTURE(describe(c));
    CAPTURE(tiny_row);
    for (const Guard guard : both_ends) {
        check_layer(call, c, in, guard);
        check_rms(call, c, in, guard);
    }
}

void check_types(std::int64_t rows, std::int64_t n, Data data, std::int64_t tiny_row = -1) {
    check(f32, rows, n, data, tiny_row);
    check(f16, rows, n, data, tiny_row);
    check(bf16, rows, n, data, tiny_row);
}

} // namespace

TEST_SUITE("attack: guards") {
    TEST_CASE("one-line calls, every length up to 130") {
        for (std::int64_t n = 1; n <= 130; ++n)
            if (kept(static_cast<std::uint64_t>(n)))
                check_types(3, n, Data::normal);
    }

    TEST_CASE("one-line calls, one tile to three, small and large") {
        for (const std::int64_t rows : {1, 15, 16, 17, 35})
            for (const std::int64_t n : {1, 31, 65, 255, 256, 257, 1030, 6001})
                if (kept(static_cast<std::uint64_t>(rows * n)))
                    check_types(rows, n, Data::normal);
    }

    TEST_CASE("one-line calls, one row of several is redone") {
        for (const std::int64_t n : {3, 64, 77, 256, 300})
            for (const std::int64_t row : {0, 1, 15, 16, 17, 31, 32, 33})
                check_types(34, n, Data::normal, row);
    }

    TEST_CASE("one-line calls, rows that are redone") {
        for (const Data data : {Data::tiny, Data::huge, Data::sparse, Data::subnormal})
            for (const std::int64_t rows : {1, 3, 17})
                for (const std::int64_t n : {3, 64, 77, 300})
                    check_types(rows, n, data);
    }
}
