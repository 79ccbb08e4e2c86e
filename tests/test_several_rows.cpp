// SPDX-License-Identifier: Apache-2.0
//
// Short rows without statistics, of the mixes of types that kernels of their own take several at a time: one root for
// as many rows as a vector has lanes, the group before written while the next is closed and after it is summed, and
// what does not fit left to the usual way. Where little is sure to be rounded alike, also rows whose first pass alone
// is taken so.
#include "root.hpp" // to know of which rows the bounds do not tell the root

#include "random.hpp"
#include "several_rows.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace rownorm_test;

namespace {

/// What the kernels do, and LayerNorm of a sum, for which there is none.
enum Op { rms, add_rms, layer, add_layer, partial, l2_max, l2_add, l2_inside, l2_clamp, ops };
constexpr int formula_of[] = {0, 0, 2, 2, 1, 3, 4, 5, 6};

Case make(const Mix &mix, int op, std::int64_t rows, std::int64_t n) {
    Case c;
    c.mix = mix;
    c.rows = rows;
    c.n = n;
    set_formula(c, formula_of[op]);
    c.residual = op == add_rms || op == add_layer;
    c.gain = true;
    c.bias = c.op == ROWNORM_LAYER_NORM;
    c.seed = static_cast<std::uint64_t>(1000 * op + 10 * n) + mix.x;
    return c;
}

/// The other formulas' kernels are those of RMSNorm, but for the last steps: fewer of their members do. As of mixes of
/// types, whose first pass is that of one type.
bool kept_of(const Mix &mix, int op, std::uint64_t member, std::uint64_t each) {
    const bool one_type = mix.y == mix.x && mix.weight == mix.x;
    return kept(member) && (op < partial || member % each == 0) && (one_type || member % 2 == 0);
}

/// Every third of a mix for which only the first pass takes several rows at a time.
void mix_every_third(Case &c, std::uint64_t member) {
    if (member % 3 != 0)
        return;
    if (c.mix.x == ROWNORM_F16)
        c.mix.y = ROWNORM_F32;
    else
        c.mix.weight = c.mix.x == ROWNORM_F32 ? ROWNORM_BF16 : ROWNORM_F16;
}

/// Rows of several groups on every ISA, and so few that they are taken one by one.
constexpr std::int64_t many = 20;
constexpr std::int64_t few = 2;

/// A row among them.
struct Spot {
    std::int64_t rows;
    std::int64_t odd;
};
std::vector<Spot> every_spot() {
    std::vector<Spot> all;
    for (const std::int64_t rows : {many, few})
        for (std::int64_t odd = 0; odd < rows; ++odd)
            all.push_back({rows, odd});
    return all;
}

/// The gain, and a bias of 0.
void set_weights(const Case &c, Inputs &in, long double gain) {
    const std::vector<long double> w(static_cast<std::size_t>(c.n), gain), b(static_cast<std::size_t>(c.n), 0);
    in.w = elements(c.mix.weight, w);
    in.b = c.bias ? elements(c.mix.weight, b) : in.b;
}

bool settles(double sum, double squares, std::int64_t n, double eps) {
    float factor = 0;
    const rownorm::Count elements = rownorm::count_of(n);
    return rownorm::settle(rownorm::bounds_of_mean(squares, elements, eps), factor) ||
           rownorm::settle(rownorm::bounds_of_variance(sum, squares, elements, eps), factor);
}

/// A sum of squares, and an eps with which the root lies so near to the middle between two floats that its bounds, were
/// they as close as their own roundings allow, would be rounded to the wrong one.
struct HardRoot {
    double squares;
    double eps;
};
std::vector<HardRoot> hard_roots(std::int64_t n, int count) {
    std::vector<HardRoot> found;
    Random random(static_cast<std::uint64_t>(n));
    const auto elements = static_cast<long double>(n);
    for (int i = 0; i < 1000000 && static_cast<int>(found.size()) < count; ++i) {
        // From 2^23 to 2^24 lies n / m^2, so that the sum is an integer that f32 holds.
        const int exponent = static_cast<int>(std::lround(std::log2(static_cast<double>(n)) / 2)) - 12;
        const long double m =
            std::ldexp(static_cast<long double>((1 << 24) + 2 * random.below(1 << 22) + 1), exponent - 24);
        const long double target = 1 / (m * m);
        const double squares = 2 * std::floor(static_cast<double>(target * elements) / 2);
        const auto rest = target - static_cast<long double>(squares) / elements;
        if (squares > 0x1p24 || rest < 0 || rest > target * 0x1p-28L)
            continue;
        const auto eps = static_cast<double>(static_cast<float>(rest));
        const double v = squares / static_cast<double>(n) + eps;
        if (static_cast<float>(std::sqrt(v) * (1 / v)) != static_cast<float>(1 / std::sqrt(v)))
            found.push_back({squares, eps});
    }
    return found;
}

/// Integers whose sum is 0 and whose squares have that sum, an even one.
std::vector<long double> with_squares(double sum, std::int64_t n) {
    std::vector<long double> x(static_cast<std::size_t>(n), 0);
    double left = sum / 2;
    for (std::size_t i = 0; left > 0 && i + 1 < x.size(); i += 2) {
        const double value = std::floor(std::sqrt(left));
        x[i] = static_cast<long double>(value);
        x[i + 1] = -x[i];
        left -= value * value;
    }
    return x;
}

} // namespace

TEST_SUITE("several rows") {
    TEST_CASE("have the bits of the usual way, however many they are and wherever they lie") {
        std::uint64_t member = 0;
        constexpr std::int64_t most = 40;
        for (const Mix &mix : whole_mixes)
            for (int op = 0; op < ops; ++op)
                for (const std::int64_t n :
                     {8, 15, 16, 31, 32, 33, 64, 100, 128, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025}) {
                    std::vector<std::int64_t> here;
                    for (std::int64_t rows = 1; rows <= most; rows += n < 300 ? 1 : 3)
                        if (kept_of(mix, op, ++member, 7))
                            here.push_back(rows);
                    if (here.empty())
                        continue;
                    Case c = make(mix, op, most, n);
                    const Inputs all = make_inputs(c);
                    const Outputs expected = the_usual_way(c, all);
                    for (const std::int64_t rows : here) {
                        c.rows = rows;
                        const std::uint64_t way = static_cast<std::uint64_t>(rows + n) + member / most;
                        check_same_bits(c, first_rows(all, most, rows), placed(c, way),
                                        first_rows(expected, most, rows));
                    }
                }
    }

    TEST_CASE("every argument ends where a page does, or begins there") {
        std::uint64_t member = 0;
        for (const Mix &mix : whole_mixes)
            for (int op = 0; op < ops; ++op)
                for (const std::int64_t n : {16, 31, 33, 64, 100, 255, 257, 512, 1023})
                    for (const std::int64_t rows : {2, 5, 8, 17, 33})
                        for (std::uint64_t way = 0; way < 4; ++way) {
                            if (!kept_of(mix, op, ++member, 7))
                                continue;
                            const Case c = make(mix, op, rows, n);
                            const Inputs in = make_inputs(c);
                            check_same_bits(c, in, between_guards(c, way), the_usual_way(c, in));
                        }
    }

    TEST_CASE("that lie far from 0, or are constant but for a rounding, or of any other kind") {
        std::uint64_t member = 0;
        for (const Mix &mix : whole_mixes)
            for (int op = 0; op < ops; ++op)
                for (const Data data : every_data)
                    for (const std::int64_t n : {32, 33, 100, 255})
                        for (const double eps : {0.0, 1e-6}) {
                            if (!kept_of(mix, op, ++member, 3))
                                continue;
                            Case c = make(mix, op, 20, n);
                            c.data = data;
                            c.eps = eps;
                            c.seed = member;
                            check_both_ways(c, make_inputs(c), placed(c, member));
                        }
    }

    TEST_CASE("one of which the arithmetic of f32 does not hold, at any place") {
        std::uint64_t member = 0;
        for (const Mix &mix : whole_mixes)
            for (int op = 0; op < ops; ++op)
                for (int kind = 0; kind < kinds_of_unfit; ++kind)
                    for (const auto &[rows, odd] : every_spot()) {
                        if (!kept_of(mix, op, ++member, 3))
                            continue;
                        constexpr std::int64_t some_n[] = {33, 64, 128, 512};
                        Case c = make(mix, op, rows, some_n[member % 4]);
                        c.eps = member % 2 == 0 ? 0 : 1e-35;
                        const Inputs in = with_elements(c, make_inputs(c), unfit_row(kind, c.n), odd);
                        check_same_bits(c, in, placed(c, member / 2), the_usual_way(c, in));
                    }
    }

    TEST_CASE("so many that they fill the second-level cache, but for one that does not fit") {
        std::uint64_t member = 0;
        for (const Mix &mix : {whole_mixes[0], whole_mixes[2], whole_mixes[5]})
            for (const int op : {rms, add_rms, layer}) {
                if (!kept(++member))
                    continue;
                Case c = make(mix, op, 12000, 96); // at least 4.6 MB
                const Inputs in = with_elements(c, make_inputs(c), unfit_row(0, c.n), 7777);
                check_same_bits(c, in, without_statistics(c), the_usual_way(c, in));
            }
    }

    TEST_CASE("one of whose roots lies between two floats, at any place") {
        std::uint64_t member = 0;
        // The mean of the squares is 1, and then eps decides on which side of 1 - 2^-25 the root is.
        constexpr double above = 0x1p-24, below = 0x1p-24 + 0x1p-47;
        for (const std::int64_t n : {16, 32, 64, 128, 256})
            for (const double eps : {above, below}) {
                const auto squares = static_cast<double>(n);
                CHECK(!settles(0, squares, n, eps));
                CHECK(static_cast<float>(rownorm::root_of_mean(squares, rownorm::count_of(n), eps).factor) ==
                      (eps == above ? 1.0F : 1 - 0x1p-24F));
                for (const Mix &mix : whole_mixes)
                    for (const int op : {rms, add_rms, layer, add_layer, partial, l2_inside})
                        for (const auto &[rows, odd] : every_spot()) {
                            if (!kept(++member))
                                continue;
                            Case c = make(mix, op, rows, n);
                            c.eps = eps;
                            c.k = op == partial ? n / 2 : 0;
                            mix_every_third(c, member);
                            // Of L2Norm it is the sum of the squares that is 1.
                            const long double unit = op == l2_inside ? 1 / std::sqrt(static_cast<long double>(n)) : 1;
                            std::vector<long double> x(static_cast<std::size_t>(n));
                            for (std::size_t i = 0; i < x.size(); ++i)
                                x[i] = unit * (i % 8 < 3 ? 1.5L : 0.5L) * (i % 16 < 8 ? 1 : -1);
                            Inputs in = make_inputs(c);
                            // With such a gain 1.5 lies in the middle between two numbers of the 16-bit type.
                            set_weights(c, in, mix.y == ROWNORM_F16 ? 1 + 0x1p-10L : 1 + 0x1p-7L);
                            in = with_elements(c, in, x, odd);
                            check_both_ways(c, in, placed(c, member / 2));
                        }
            }
    }

    TEST_CASE("whose roots lie within some ulps of f64 of the middle between two floats") {
        std::uint64_t member = 0;
        for (const std::int64_t count : {1, 32, 64, 256}) {
            const std::vector<HardRoot> roots = hard_roots(count, scaled(30));
            CHECK(static_cast<int>(roots.size()) == scaled(30));
            for (const HardRoot &root : roots) {
                CHECK(!settles(0, root.squares, count, root.eps));
                for (const int op : {rms, add_rms, layer, partial, l2_inside}) {
                    if ((op == l2_inside) != (count == 1)) // whose root is not of a mean
                        continue;
                    const std::int64_t n = count == 1 ? 48 : op == partial ? 2 * count : count;
                    const std::int64_t rows = member % 4 == 0 ? few : many;
                    Case c = make(all_of(ROWNORM_F32), op, rows, n);
                    c.eps = root.eps;
                    c.k = op == partial ? count : 0;
                    mix_every_third(c, ++member / 3);
                    Inputs in = make_inputs(c);
                    set_weights(c, in, 1);
                    const std::vector<long double> x = with_squares(root.squares, n);
                    for (auto odd = static_cast<std::int64_t>(rows == few ? 0 : member % 3); odd < rows; odd += 3)
                        in = with_elements(c, in, x, odd);
                    check_both_ways(c, in, placed(c, member));
                }
            }
        }
    }

    TEST_CASE("one of whose elements are equal, so that nothing but rounding is left of their variance") {
        std::uint64_t member = 0;
        // 1/n is rounded so that n * n * (1/n) is not n, and the sum of such a row not n times an element.
        for (const std::int64_t n : {49, 98, 99, 103, 107, 186, 196, 206, 253})
            for (const double eps : {0.0, 1e-29, 1e-20})
                for (int i = 0; i < 16; ++i) {
                    if (!kept(++member))
                        continue;
                    const std::int64_t rows = member % 4 == 0 ? few : many;
                    Case c = make(all_of(ROWNORM_F32), layer, rows, n);
                    c.eps = eps;
                    mix_every_third(c, member);
                    Random random(member);
                    const long double value = std::ldexp(static_cast<long double>(random.below(1 << 24)), i);
                    const std::vector<long double> x(static_cast<std::size_t>(n), value);
                    const Inputs in =
                        with_elements(c, make_inputs(c), x,
                                      static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(rows))));
                    check_both_ways(c, in, placed(c, member));
                }
    }

    // Only there: the sum of a short row is an f32, which n divides to the middle between two floats only where these
    // have fewer digits.
    TEST_CASE("whose means lie in the middle between two subnormal numbers") {
        std::uint64_t member = 0;
        for (const std::int64_t n : {16, 33, 64, 100, 256})
            for (const auto &[rows, odd] : every_spot()) {
                if (!kept(++member))
                    continue;
                Case c = make(all_of(ROWNORM_F32), layer, rows, n);
                c.data = Data::subnormal;
                mix_every_third(c, member);
                Inputs in = make_inputs(c);
                set_weights(c, in, 1);
                std::vector<long double> x(static_cast<std::size_t>(n), 0x1p-149L * static_cast<long double>(member));
                x[static_cast<std::size_t>(odd) % x.size()] +=
                    0x1p-149L * static_cast<long double>(n + (n % 2 == 0 ? n / 2 : 0));
                in = with_elements(c, in, x, odd);
                check_both_ways(c, in, placed(c, member));
            }
    }
}
