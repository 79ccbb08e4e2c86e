// SPDX-License-Identifier: Apache-2.0
//
// A case: what is computed, on which kind of data, from which seed. Its description reproduces it.
#pragma once

#include <rownorm/rownorm.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rownorm_test {

/// Which type each argument has; the bias has the gain's.
struct Mix {
    rownorm_type x = ROWNORM_F32, residual = ROWNORM_F32, y = ROWNORM_F32, weight = ROWNORM_F32;
};

constexpr Mix all_of(rownorm_type type) { return {type, type, type, type}; }
/// All mixes of f32, f16 and bf16, and f64; with one type of residual (x's), or with every one.
std::vector<Mix> every_mix(bool with_residuals);
/// The six that the pairwise suites use: f32, f16, bf16, two that no two arguments agree in, and f64.
const std::vector<Mix> &main_mixes();

/// Kinds of rows. The size of "tiny", "huge" and so on follows the type of x.
enum class Data {
    normal,    ///< about N(0, 2)
    offset,    ///< a mean much larger than the spread (f32: 1e4 and 1)
    massive,   ///< normal/2 with one element of 24,000, as in a large model's first token
    constant,  ///< one value for the whole row
    lognormal, ///< magnitudes over many binades, either sign
    sparse,    ///< zeros, and one normal number in sixteen
    tiny,      ///< squares underflow
    huge,      ///< squares overflow
    subnormal, ///< subnormal numbers of x's type
};
constexpr Data every_data[] = {Data::normal, Data::offset, Data::massive, Data::constant, Data::lognormal,
                               Data::sparse, Data::tiny,   Data::huge,    Data::subnormal};
const char *name_of(Data data);

struct Case {
    rownorm_op op = ROWNORM_RMS_NORM;
    Mix mix;
    std::int64_t rows = 1, n = 1, k = 0;
    double p = 0, eps = 1e-6, weight_offset = 0;
    rownorm_l2_eps l2_eps = ROWNORM_L2_EPS_MAX;
    rownorm_round round = ROWNORM_ROUND_ONCE;
    bool gain = false, bias = false, residual = false;
    Data data = Data::normal;
    std::uint64_t seed = 1;
};

/// The seven formulas: RMSNorm, pRMSNorm (a third of the row), LayerNorm and L2Norm's four.
constexpr int formulas = 7;
void set_formula(Case &c, int formula);
const char *name_of_formula(const Case &c);

std::string describe(const Case &c);
rownorm_descriptor descriptor_of(const Case &c);

/// The arguments as dense rows; those that the case lacks are empty.
struct Inputs {
    std::vector<std::byte> x, residual, w, b;
};
Inputs make_inputs(const Case &c);

/// n elements of a type from values, rounded; and back.
std::vector<std::byte> elements(rownorm_type type, const std::vector<long double> &values);
std::vector<long double> values_of(rownorm_type type, const std::vector<std::byte> &bytes);

/// ROWNORM_TEST_SCALE (1 if unset): how much of the random and swept parts to run. Emulated CPUs set it
/// below 1.
double test_scale();
/// `count` scaled, at least 1.
int scaled(int count);
/// Whether a sweep keeps the member with this number: all at a scale of 1, a fixed share below.
bool kept(std::uint64_t member);

} // namespace rownorm_test
