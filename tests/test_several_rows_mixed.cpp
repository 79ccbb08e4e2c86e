// SPDX-License-Identifier: Apache-2.0
//
// Short rows without statistics of any types, with any gain and bias, added to a residual or not: their first pass
// takes several at a time, to what they are scaled by, and leaves what does not fit to the usual way.
#include "random.hpp"
#include "several_rows.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace rownorm_test;

namespace {

/// Around 4, 8 and 16, which are the rows that a vector has lanes for, their halves and multiples.
constexpr std::int64_t some_rows[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33};
/// Up to the longest short rows of either size of element, and beyond.
constexpr std::int64_t some_n[] = {1,   2,   7,   15,  16,  17,  31,  33,  64,   65,   100,
                                   127, 128, 255, 300, 511, 512, 513, 700, 1023, 1024, 1025};

template <class T, std::size_t size>
T one_of(const T (&all)[size], std::uint64_t number) {
    return all[number % size];
}

/// What there is of gain, bias, offset and rounding.
constexpr int affines = 8;
void set_affine(Case &c, int affine) {
    c.gain = affine != 0 && affine != 2 && affine != 7;
    c.bias = affine == 2 || affine == 3 || affine == 5;
    c.weight_offset = affine == 4 || affine == 5 ? 1 : 0;
    c.round = affine == 6 ? ROWNORM_ROUND_TO_BF16 : affine == 7 ? ROWNORM_ROUND_TO_F16 : ROWNORM_ROUND_ONCE;
}

/// Formulas with and without a residual, of rows of a type; y, gain and bias follow the member. The rows may be whole
/// ones for another kernel: of one type, and with the gain and bias that it takes.
constexpr int ops = 2 * formulas;
Case make(rownorm_type type, int op, std::int64_t rows, std::int64_t n, std::uint64_t member) {
    Random random(member);
    Case c;
    c.mix = {type, type, one_of(short_types, random.below(3)), one_of(short_types, random.below(3))};
    c.rows = rows;
    c.n = n;
    set_formula(c, op / 2);
    c.residual = op % 2 == 1;
    set_affine(c, static_cast<int>(random.below(affines)));
    c.seed = member;
    return c;
}

void check_as_usual(const Case &c, const Inputs &in, const Setup &setup) {
    check_same_bits(c, in, setup, the_usual_way(c, in));
}

/// An output may go over an input whose elements are as large.
bool fits(const Mix &mix, Place place, rownorm_type output) {
    if (place == Place::over_x)
        return size_of(mix.x) == size_of(output);
    return place != Place::over_residual || size_of(mix.residual) == size_of(output);
}

/// Integers whose squares have that sum, which are numbers of the type.
std::vector<long double> with_squares(rownorm_type type, double sum, std::int64_t n) {
    const double most = type == ROWNORM_BF16 ? 256 : type == ROWNORM_F16 ? 2048 : 4096;
    std::vector<long double> x(static_cast<std::size_t>(n), 0);
    for (long double &value : x) {
        value = static_cast<long double>(std::fmin(most, std::floor(std::sqrt(sum))));
        sum -= static_cast<double>(value * value);
    }
    CHECK(sum == 0);
    return x;
}

/// Rows that are all the same, but for one.
Inputs rows_but_one(const Case &c, const std::vector<long double> &x, const std::vector<long double> &other,
                    std::int64_t odd) {
    Inputs in = make_inputs(c);
    for (std::int64_t row = 0; row < c.rows; ++row)
        in = with_elements(c, in, row == odd ? other : x, row);
    return in;
}

/// For the kernels that take rows through both passes, or the first alone.
void set_kernel(Case &c, std::uint64_t member) {
    c.gain = member % 2 == 0;
    c.bias = c.gain && c.op == ROWNORM_LAYER_NORM;
}

} // namespace

TEST_SUITE("several rows") {
    TEST_CASE("of any types, with any gain, bias, offset and rounding, have the bits of the usual way") {
        std::uint64_t member = 0;
        for (const Mix &mix : every_mix(false)) {
            if (mix.x == ROWNORM_F64)
                continue;
            for (int formula = 0; formula < formulas; ++formula)
                for (int affine = 0; affine < affines; ++affine) {
                    if (!kept(++member))
                        continue;
                    Random random(member);
                    Case c;
                    c.mix = mix;
                    c.rows = one_of(some_rows, random.next());
                    c.n = one_of(some_n, random.next());
                    set_formula(c, formula);
                    c.residual = random.below(3) == 0;
                    set_affine(c, affine);
                    c.data = one_of(every_data, random.next());
                    c.seed = member;
                    check_as_usual(c, make_inputs(c), placed_anywhere(c, random.next()));
                }
        }
    }

    TEST_CASE("of any types have the bits of the usual way, however many they are and wherever they lie") {
        std::uint64_t member = 0, way = 0;
        constexpr std::int64_t most = 33;
        for (const rownorm_type type : short_types)
            for (int op = 0; op < ops; ++op)
                for (const std::int64_t n : some_n) {
                    ++member;
                    std::vector<std::int64_t> here; // each number of rows with each fourth n
                    for (std::size_t i = member % 4; i < std::size(some_rows); i += 4)
                        if (kept(1000 * member + i))
                            here.push_back(some_rows[i]);
                    if (here.empty())
                        continue;
                    Case c = make(type, op, most, n, member);
                    const Inputs all = make_inputs(c);
                    const Outputs expected = the_usual_way(c, all);
                    for (const std::int64_t rows : here) {
                        c.rows = rows;
                        check_same_bits(c, first_rows(all, most, rows), placed_anywhere(c, ++way),
                                        first_rows(expected, most, rows));
                    }
                }
    }

    TEST_CASE("every argument ends where a page does, or begins there, whatever the types") {
        std::uint64_t member = 0;
        for (const rownorm_type type : short_types)
            for (int op = 0; op < ops; ++op)
                for (const std::int64_t n : {15, 33, 64, 100, 257})
                    for (const std::int64_t rows : {2, 4, 5, 9, 17}) {
                        if (!kept(++member))
                            continue;
                        const Case c = make(type, op, rows, n, member);
                        check_as_usual(c, make_inputs(c), between_guards(c, member / 2));
                    }
    }

    TEST_CASE("whose sums with a residual go elsewhere, over x, over the residual, or nowhere") {
        std::uint64_t member = 0, count = 0;
        constexpr Place places[] = {Place::own, Place::nowhere, Place::over_x, Place::over_residual};
        for (const Mix &mix : every_mix(true)) {
            if (mix.x == ROWNORM_F64)
                continue;
            for (int formula = 0; formula < formulas; ++formula)
                for (const Place y : {Place::own, Place::over_x, Place::over_residual})
                    for (const Place sum : places) {
                        ++member; // those with kernels, and some of the others
                        if (!kept(member) || (mix.residual != mix.x && member % 16 != 0) || !fits(mix, y, mix.y) ||
                            !fits(mix, sum, mix.residual) || (y != Place::own && y == sum))
                            continue;
                        Random random(member);
                        Case c;
                        c.mix = mix;
                        c.rows = one_of(some_rows, random.next());
                        c.n = one_of({15, 33, 64, 100, 129, 512}, random.next());
                        set_formula(c, formula);
                        c.residual = true;
                        set_affine(c, static_cast<int>(random.below(affines)));
                        c.seed = member;
                        Inputs in = make_inputs(c);
                        if (random.below(3) == 0) // one that does not fit: its sum is there already
                            in = with_elements(c, in, unfit_row(static_cast<int>(random.below(kinds_of_unfit)), c.n),
                                               static_cast<std::int64_t>(random.below(32)) % c.rows);
                        Setup setup;
                        setup.statistics = false;
                        setup.y_place = y;
                        setup.residual_out_place = sum;
                        setup.x.row_gap = setup.residual.row_gap = member % 4 == 0 ? 3 : 0;
                        setup.residual_out.row_gap = member % 4 == 0 ? 5 : 0;
                        check_as_usual(c, in, setup);
                        ++count;
                    }
        }
        if (test_scale() >= 1)
            CHECK(count > 1500);
    }

    TEST_CASE("of any types, that lie far from 0, or are constant but for a rounding, or of any other kind") {
        std::uint64_t member = 0;
        for (const rownorm_type type : short_types)
            for (int op = 0; op < ops; ++op)
                for (const Data data : every_data)
                    for (const double eps : {0.0, 1e-6}) {
                        if (!kept(++member))
                            continue;
                        Case c = make(type, op, 20, one_of({32, 33, 100, 255}, member / 2), member);
                        c.data = data;
                        c.eps = eps;
                        check_both_ways(c, make_inputs(c), placed_anywhere(c, member));
                    }
    }

    TEST_CASE("of any types, one of which the arithmetic of f32 does not hold, at any place") {
        std::uint64_t member = 0;
        constexpr std::int64_t rows = 20;
        for (const rownorm_type type : short_types)
            for (int op = 0; op < ops; ++op)
                for (int kind = 0; kind < kinds_of_unfit; ++kind)
                    for (std::int64_t odd = 0; odd < rows; ++odd) {
                        ++member;
                        if (!kept(member) || (odd + op + kind) % 2 != 0)
                            continue;
                        Case c = make(type, op, rows, one_of({33, 64, 128, 512}, member / 3), member);
                        c.eps = one_of({0.0, 1e-35, 1e-6}, member / 2);
                        const Inputs in = with_elements(c, make_inputs(c), unfit_row(kind, c.n), odd);
                        check_as_usual(c, in, placed_anywhere(c, member));
                    }
    }

    TEST_CASE("of L2Norm, one of which has a norm of eps, or just above it or below") {
        std::uint64_t member = 0;
        constexpr std::int64_t rows = 20, n = 256;
        constexpr double eps = 3000; // whose square is such a number of f32 that the next one is 1 more
        for (const rownorm_type type : short_types)
            for (int formula = 3; formula < formulas; ++formula)
                for (const double others : {4e6, 13e6}) // of which all are below eps, or none
                    for (const double sum :
                         {4e6, 8999900.0, 8999998.0, 8999999.0, 9e6, 9000001.0, 9000002.0, 9000100.0, 13e6})
                        for (int i = 0; i < 3; ++i) {
                            if (!kept(++member))
                                continue;
                            Case c;
                            c.mix = all_of(type);
                            c.rows = rows;
                            c.n = n;
                            set_formula(c, formula);
                            set_kernel(c, member);
                            // Where it is in the unit of x^2, and elsewhere, as an eps that counts.
                            c.eps = c.l2_eps == ROWNORM_L2_EPS_MAX ? eps : eps * eps;
                            const auto odd = static_cast<std::int64_t>(scramble(member) % rows);
                            check_both_ways(
                                c, rows_but_one(c, with_squares(type, others, n), with_squares(type, sum, n), odd),
                                placed_anywhere(c, member / 2));
                        }
    }

    TEST_CASE("one of which is 0, whatever eps is") {
        std::uint64_t member = 0;
        constexpr std::int64_t rows = 20;
        for (const rownorm_type type : short_types)
            for (int op = 0; op < ops; ++op)
                for (const double eps : {0.0, 0x1p-140, 0x1p-101, 0x1p-100, 0x1p-99, 0x1.000002p-99, 1e-6, 1.0, 3e38})
                    for (int i = 0; i < 3; ++i) {
                        if (!kept(++member))
                            continue;
                        Case c = make(type, op, rows, one_of({16, 33, 64}, member / 2), member);
                        c.eps = eps;
                        if (member % 3 == 0) {
                            c.mix = all_of(type);
                            c.weight_offset = 0;
                            c.round = ROWNORM_ROUND_ONCE;
                            set_kernel(c, 0);
                        }
                        const std::vector<long double> zeros(static_cast<std::size_t>(c.n), 0);
                        const auto odd = static_cast<std::int64_t>(scramble(member) % rows);
                        check_both_ways(c, with_elements(c, make_inputs(c), zeros, odd), placed_anywhere(c, member));
                    }
    }

    TEST_CASE("one of which is on the brink of being redone") {
        std::uint64_t member = 0;
        constexpr std::int64_t rows = 20;
        for (int formula = 0; formula < formulas; ++formula)
            for (const std::int64_t n : {16, 64})
                for (int i = 0; i < 24; ++i)
                    for (const double brink : {0x1p-50, 0x1p64}) {
                        if (!kept(++member))
                            continue;
                        Case c;
                        c.rows = rows;
                        c.n = n;
                        set_formula(c, formula);
                        set_kernel(c, member / 2);
                        c.eps = 0;
                        // The mean of the squares, and of those of L2Norm the sum; sums overflow where that is finite.
                        const bool of_mean = c.op != ROWNORM_L2_NORM && brink < 1;
                        const double value =
                            brink * std::exp2((i - 12) / 8.0) / (of_mean ? 1 : std::sqrt(static_cast<double>(n)));
                        std::vector<long double> x(static_cast<std::size_t>(n));
                        for (std::size_t at = 0; at < x.size(); ++at)
                            x[at] = static_cast<long double>(at % 2 == 0 ? value : -value);
                        const auto odd = static_cast<std::int64_t>(scramble(member) % rows);
                        check_both_ways(c, with_elements(c, make_inputs(c), x, odd), placed_anywhere(c, member));
                    }
    }
}
