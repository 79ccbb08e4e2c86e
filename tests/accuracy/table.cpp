// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace rownorm_test {
namespace {

/// x87's long double made the committed table. A wider one may differ in the last digit of a cell.
constexpr Cell slack = LDBL_MANT_DIG == 64 ? 0 : 1;

std::string text_of(Cell cell) {
    char text[32];
    std::snprintf(text, sizeof text, "%ld.%02ld", cell / 100, cell % 100);
    return text;
}

std::string trimmed(const std::string &text) {
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// What lies between the bars of a line; nothing if it is not a line of a table.
std::vector<std::string> columns_of(const std::string &line) {
    std::vector<std::string> columns;
    if (line.empty() || line[0] != '|')
        return columns;
    std::istringstream in(line.substr(1));
    for (std::string column; std::getline(in, column, '|');)
        columns.push_back(trimmed(column));
    return columns;
}

bool is_number(const std::string &text) {
    return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
}

std::string joined(const std::vector<std::string> &words) {
    std::string text;
    for (const std::string &word : words)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

int print_worse_cells(std::ostream &out, const std::vector<std::string> &key, const std::vector<Cell> &committed,
                      const std::vector<Cell> &found, const std::vector<std::string> &columns) {
    int worse = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (i < committed.size() && found[i] <= committed[i] + slack)
            continue;
        out << joined(key) << " " << columns[key_columns + i] << ": " << text_of(found[i])
            << " is worse than the table's " << (i < committed.size() ? text_of(committed[i]) : "(no cell)") << "\n";
        ++worse;
    }
    return worse;
}

} // namespace

Cell cell_of(double error) { return error < 1e6 ? static_cast<Cell>(std::ceil(error * 100)) : 100'000'000; }

void print_row(std::ostream &out, const std::vector<std::string> &key, const std::vector<Cell> &cells) {
    for (const std::string &word : key)
        out << "| " << word << " ";
    for (const Cell cell : cells)
        out << "| " << text_of(cell) << " ";
    out << "|\n";
}

void print_head(std::ostream &out, const std::vector<std::string> &columns) {
    for (const std::string &column : columns)
        out << "| " << column << " ";
    out << "|\n";
    for (std::size_t i = 0; i < columns.size(); ++i)
        out << (i + 1 < key_columns ? "|---" : "|--:");
    out << "|\n";
}

Table read_table(const std::string &path) {
    Table table;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::vector<std::string> columns = columns_of(line);
        if (columns.size() <= key_columns || !is_number(columns[key_columns]))
            continue;
        std::vector<Cell> &cells = table[{columns.begin(), columns.begin() + key_columns}];
        for (std::size_t i = key_columns; i < columns.size() && is_number(columns[i]); ++i)
            cells.push_back(std::lround(std::stod(columns[i]) * 100));
    }
    return table;
}

int print_worse(std::ostream &out, const Table &committed, const Table &found,
                const std::vector<std::string> &columns) {
    int worse = 0;
    for (const auto &[key, cells] : found)
        if (const auto row = committed.find(key); row != committed.end())
            worse += print_worse_cells(out, key, row->second, cells, columns);
        else
            out << joined(key) << ": not in the table\n", ++worse;
    for (const auto &[key, cells] : committed)
        if (found.find(key) == found.end())
            out << joined(key) << ": in the table and not measured\n", ++worse;
    return worse;
}

} // namespace rownorm_test
