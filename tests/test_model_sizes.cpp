// SPDX-License-Identifier: Apache-2.0
//
// The hidden sizes of real models, with what their layers have: add + RMSNorm with a gain (Llama), the
// gain kept as w - 1 (Gemma), LayerNorm with gain and bias (BERT, GPT-2), L2Norm over a head.
#include "run.hpp"

#include <doctest/doctest.h>

using namespace rownorm_test;

namespace {

constexpr std::int64_t hidden_sizes[] = {576, 896, 1024, 1536, 2048, 4096, 5120, 7168, 8192, 16384, 65536};

Case layer_of(const Mix &mix, std::int64_t n, int formula, Data data) {
    Case c;
    c.mix = mix;
    c.n = n;
    c.rows = n > 20000 ? 1 : 2;
    set_formula(c, formula);
    c.gain = formula < 3;
    c.bias = formula == 2;
    c.residual = formula == 0 || formula == 2;
    c.weight_offset = formula == 1 ? 1 : 0;
    c.eps = formula == 2 ? 1e-12 : 1e-5;
    c.data = data;
    c.seed = static_cast<std::uint64_t>(n + formula);
    return c;
}

void sweep(int formula) {
    constexpr Data kinds[] = {Data::normal, Data::massive, Data::offset, Data::lognormal};
    std::uint64_t member = static_cast<std::uint64_t>(formula) * 1000;
    for (const std::int64_t n : hidden_sizes)
        for (const Mix &mix : main_mixes())
            if (kept(++member))
                check(layer_of(mix, n, formula, kinds[member % std::size(kinds)]));
}

} // namespace

TEST_SUITE("model sizes") {
    TEST_CASE("add + RMSNorm") { sweep(0); }
    TEST_CASE("partial RMSNorm with 1 + w") { sweep(1); }
    TEST_CASE("add + LayerNorm with gain and bias") { sweep(2); }
    TEST_CASE("L2Norm") {
        for (int formula = 3; formula < formulas; ++formula)
            sweep(formula);
    }

    TEST_CASE("lengths around the chunk of 1,024") {
        std::uint64_t member = 0;
        for (const std::int64_t n : {1023, 1024, 1025, 1087, 1088, 2047, 2048, 2049, 3071, 4097})
            for (const Mix &mix : main_mixes())
                for (int formula = 0; formula < formulas; ++formula)
                    if (kept(++member))
                        check(layer_of(mix, n, formula, Data::normal));
    }
}
