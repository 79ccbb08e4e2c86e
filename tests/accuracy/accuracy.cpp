// SPDX-License-Identifier: Apache-2.0
//
// rownorm_accuracy: the largest error against long double, per formula, type, n and kind of data.
//
//   rownorm_accuracy               prints the table (tests/accuracy/TABLE.md)
//   rownorm_accuracy --check FILE  measures, and exits 1 if a cell is worse than FILE's
#include "formats.hpp"
#include "measure.hpp"
#include "table.hpp"

#include <algorithm>
#include <cstring>
#include <iostream>

using namespace rownorm_test;

namespace {

constexpr Data kinds[] = {Data::constant,  Data::normal, Data::offset, Data::massive,
                          Data::lognormal, Data::tiny,   Data::huge};

/// Around the tile of 64 lanes and the chunk of 1,024, and the sizes of models; with the rows of each.
struct Size {
    std::int64_t n, rows;
};
constexpr Size sizes[] = {{16, 64}, {127, 16}, {1024, 8}, {1025, 8}, {4096, 4}, {65536, 1}};

const std::vector<std::string> columns = [] {
    std::vector<std::string> names = {"formula", "x", "n"};
    for (const Data kind : kinds)
        names.emplace_back(name_of(kind));
    return names;
}();

/// y is f32 for 16-bit x: its own rounding would hide what the computation before it loses.
Mix mix_of(rownorm_type x) { return x == ROWNORM_F64 ? all_of(x) : Mix{x, x, ROWNORM_F32, ROWNORM_F32}; }

Case case_of(int formula, rownorm_type x, const Size &size, Data kind) {
    Case c;
    c.mix = mix_of(x);
    c.n = size.n;
    c.rows = size.rows;
    set_formula(c, formula);
    c.eps = kind == Data::tiny ? 0 : 1e-6; // beside tiny rows 1e-6 would be all that counts
    c.data = kind;
    c.seed = static_cast<std::uint64_t>(size.n) * 16 + static_cast<std::uint64_t>(kind);
    return c;
}

/// The worse of without and with gain and bias.
double measure(Case c) {
    const double plain = largest_error(c);
    c.gain = c.bias = true;
    return std::max(plain, largest_error(c));
}

void measure_formula(int formula, Table &table, std::ostream *out) {
    for (const rownorm_type x : {ROWNORM_F32, ROWNORM_F16, ROWNORM_BF16, ROWNORM_F64})
        for (const Size &size : sizes) {
            const std::vector<std::string> key = {name_of_formula(case_of(formula, x, size, Data::normal)), name_of(x),
                                                  std::to_string(size.n)};
            std::vector<Cell> &cells = table[key];
            for (const Data kind : kinds)
                cells.push_back(cell_of(measure(case_of(formula, x, size, kind))));
            if (out != nullptr)
                print_row(*out, key, cells);
        }
}

constexpr const char *introduction = R"(# Largest errors

Measured by `rownorm_accuracy` against long double, in ulp of f32 (of f64 where x is f64) at |t\*w'| + |b|, the unit
of the documented bound, before the rounding to a 16-bit y: t is the exact normalised value, w' the gain with its
offset, b the bias. For LayerNorm the unit is the ulp at |t\*w'| + |b| + |w'|, because near the mean t goes to zero and
the error of the mean does not. Each cell is the worse of rows without and with gain and bias, rounded up; eps is
1e-6, and 0 for tiny rows. The results have the same bits on every ISA, so the table holds for all of them. `ctest`
measures again and fails if a cell is worse.

)";

int print_table() {
    std::cout << introduction;
    print_head(std::cout, columns);
    Table table;
    for (int formula = 0; formula < formulas; ++formula)
        measure_formula(formula, table, &std::cout);
    return 0;
}

int check_table(const char *path) {
    const Table committed = read_table(path);
    if (committed.empty()) {
        std::cerr << "rownorm_accuracy: " << path << " has no table\n";
        return 1;
    }
    Table found;
    for (int formula = 0; formula < formulas; ++formula)
        measure_formula(formula, found, nullptr);
    const int worse = print_worse(std::cout, committed, found, columns);
    std::cout << found.size() << " rows measured, " << worse << " findings\n";
    return worse == 0 ? 0 : 1;
}

} // namespace

int main(int count, char **arguments) {
    if (count == 1)
        return print_table();
    if (count == 3 && std::strcmp(arguments[1], "--check") == 0)
        return check_table(arguments[2]);
    std::cerr << "usage: rownorm_accuracy [--check FILE]\n";
    return 2;
}
