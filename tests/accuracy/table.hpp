// SPDX-License-Identifier: Apache-2.0
//
// The table of errors: as Markdown, read back, and compared.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace rownorm_test {

/// Hundredths, rounded up, so that a cell never says less than was measured.
using Cell = long;
Cell cell_of(double error);

/// The first columns of a row (formula, type, n) as printed, and its cells.
using Table = std::map<std::vector<std::string>, std::vector<Cell>>;

constexpr std::size_t key_columns = 3;

/// A line of the table; the one that comes first is the head.
void print_row(std::ostream &out, const std::vector<std::string> &key, const std::vector<Cell> &cells);
void print_head(std::ostream &out, const std::vector<std::string> &columns);

/// The rows of the table in a Markdown file; empty if there are none.
Table read_table(const std::string &path);

/// A line for each row that only one table has, and for each cell of `found` above that of `committed`.
int print_worse(std::ostream &out, const Table &committed, const Table &found, const std::vector<std::string> &columns);

} // namespace rownorm_test
