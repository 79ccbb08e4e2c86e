// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <algorithm>
#include <numeric>

namespace command {

namespace {

/// Levenshtein's distance: how many characters to insert, delete or replace.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t(0));
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
        }
    }
    return row.back();
}

std::vector<std::string> long_options(const CLI::App &app) {
    std::vector<std::string> names;
    for (const CLI::Option *option : app.get_options())
        for (const std::string &name : option->get_lnames())
            names.push_back("--" + name);
    return names;
}

} // namespace

std::string suggestion(std::string_view word, const std::vector<std::string> &names) {
    std::string best;
    std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1; // farther is no typing mistake
    for (const std::string &name : names)
        if (const std::size_t d = distance(word, name); d < least) {
            least = d;
            best = name;
        }
    return best.empty() ? "" : fmt::format("; is {} meant?", best);
}

void refuse_unknown(const CLI::App &app) {
    std::vector<std::string> extra = app.remaining();
    // CLI11 counts the mark that ends the options among the extras.
    if (const auto mark = std::find(extra.begin(), extra.end(), "--"); mark != extra.end())
        extra.erase(mark);
    // The option first: what looks like a file too many is often its value.
    auto word = std::find_if(extra.begin(), extra.end(), [](const auto &w) { return w.size() > 1 && w[0] == '-'; });
    if (word == extra.end())
        word = extra.begin();
    if (word == extra.end())
        return;
    const std::string name = word->substr(0, word->find('='));
    fail_usage("{} {}: unexpected argument{} (see rownorm {} --help)", app.get_name(), printable(name),
               suggestion(name, long_options(app)), app.get_name());
}

} // namespace command
