// SPDX-License-Identifier: Apache-2.0
//
// A row by itself, and long rows one after the other, without statistics: each has kernels of its own.
#include "fp_state.hpp"
#include "usual_way.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace rownorm_test;

namespace {

void check_alone(const Case &c, const Inputs &in) {
    Setup setup = without_statistics(c);
    const Outputs expected = the_usual_way(c, in);
    check_same_bits(c, in, setup, expected);
    setup.y.offset = 1;
    check_same_bits(c, in, setup, expected);
}

} // namespace

TEST_SUITE("one row") {
    TEST_CASE("gives the bits of the usual way, whatever is asked of it") {
        std::uint64_t member = 0;
        for (const Mix &mix : {all_of(ROWNORM_F32), all_of(ROWNORM_F16), all_of(ROWNORM_BF16), all_of(ROWNORM_F64),
                               Mix{ROWNORM_BF16, ROWNORM_BF16, ROWNORM_BF16, ROWNORM_F32},
                               Mix{ROWNORM_F16, ROWNORM_F16, ROWNORM_F16, ROWNORM_F32},
                               Mix{ROWNORM_F32, ROWNORM_F32, ROWNORM_BF16, ROWNORM_F32}})
            for (int formula = 0; formula < formulas; ++formula)
                for (int arguments = 0; arguments < 16; ++arguments)
                    for (const std::int64_t n : {1, 15, 16, 33, 64, 75, 128, 600, 1040}) {
                        Case c;
                        c.mix = mix;
                        c.n = n;
                        set_formula(c, formula);
                        c.gain = arguments & 1;
                        c.bias = arguments & 2;
                        c.residual = arguments & 4;
                        c.weight_offset = arguments & 8 && member % 2 ? 1 : 0;
                        c.round = arguments & 8 && member % 2 == 0 && mix.x != ROWNORM_F64 ? ROWNORM_ROUND_TO_BF16
                                                                                           : ROWNORM_ROUND_ONCE;
                        c.data = every_data[member % std::size(every_data)];
                        c.seed = ++member;
                        if (kept(member))
                            check_alone(c, make_inputs(c));
                    }
    }

    TEST_CASE("long rows, one of which the usual arithmetic does not hold") {
        for (const Mix &mix :
             {all_of(ROWNORM_F32), all_of(ROWNORM_BF16), Mix{ROWNORM_BF16, ROWNORM_BF16, ROWNORM_BF16, ROWNORM_F32},
              Mix{ROWNORM_F32, ROWNORM_F32, ROWNORM_BF16, ROWNORM_F32}})
            for (const int formula : {0, 2}) // RMSNorm and LayerNorm
                for (const bool residual : {false, true})
                    for (const Data data : {Data::huge, Data::tiny, Data::subnormal})
                        for (const std::size_t odd : {0U, 1U, 2U}) {
                            Case c;
                            c.mix = mix;
                            c.rows = 3;
                            c.n = 5000;
                            set_formula(c, formula);
                            c.gain = true;
                            c.bias = formula == 2;
                            c.residual = residual;
                            Case other = c;
                            other.data = data;
                            const Inputs in = with_row(make_inputs(c), make_inputs(other), 3, odd);
                            check_same_bits(c, in, without_statistics(c), the_usual_way(c, in));
                        }
    }

    TEST_CASE("in any floating-point state, which is as it was afterwards") {
        constexpr std::size_t n = 75;
        std::vector<float> x(n), w(n), y(n), expected(n);
        for (std::size_t i = 0; i < n; ++i) {
            x[i] = static_cast<float>(i) / 7 - 4;
            w[i] = i % 5 == 0 ? 1e-40F : 1 / static_cast<float>(i + 3);
        }
        rownorm_descriptor d = {};
        d.struct_size = sizeof d;
        d.op = ROWNORM_RMS_NORM;
        d.x_type = ROWNORM_F32;
        d.n = static_cast<std::int64_t>(n);
        d.eps = 1e-5;
        const Plan plan(d);
        rownorm_io io = rownorm_dense_io(&d, 1);
        io.x.data = x.data();
        io.w.data = w.data();
        io.y.data = expected.data();
        CHECK(rownorm_execute(plan, &io) == ROWNORM_OK);
        io.y.data = y.data();
        const auto check = [&](const FpState &state, auto call) {
            std::uint64_t taken = 0;
            std::fill(y.begin(), y.end(), 0.0F);
            CHECK(in_fp_state(state.bits, taken, call) == taken);
            INFO(state.name);
            CHECK(y == expected);
        };
        for (const FpState &state : fp_states) {
            check(state, [&] { rownorm_execute(plan, &io); });
            check(state, [&] { rownorm_rms_norm_f32(y.data(), x.data(), w.data(), 1, d.n, 1e-5F); });
        }
    }
}
