// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "machine.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace rownorm_bench {

const char *const usage = R"(rownorm_bench: op x types x ISA x shape x threads, beside the limits of the machine

  --isa=NAME,...      library ISAs, "default" for what plans choose by themselves (default: that and all that run
                      here); "none" leaves only limits and peers
  --op=NAME,...       rms_norm, partial_rms_norm, add_rms_norm, layer_norm, l2_norm (default: all)
  --types=NAME,...    f32, f16, bf16, bf16_w_f32, f32_y_bf16, f64 (default: all)
  --shapes=NAME,...   decode, prefill, heads, others, all, or ROWSxCOLS (default: decode,prefill,heads)
  --threads=N,...     (default: 1, and all cores for prefill's shapes)
  --from=PLACE,...    repeated: the same rows each time, in the smallest cache that holds them
                      cold_weight: the gain comes from memory; memory: all comes from memory
                      consumed: as repeated, and y is read after each run, within the time
                      slices: as repeated, but each row of x and y is the first third of a longer one
                      (default: repeated, and cold_weight for decode's shapes)
  --limits=off        without memcpy, nt_copy, triad and read
  --peers=off         without the peers that were found when this was built

and Google Benchmark's own, such as --benchmark_filter=REGEX, --benchmark_min_time=SECONDS (here 0.1),
--benchmark_repetitions=N with --benchmark_enable_random_interleaving=true, --benchmark_format=json
)";

namespace {

using Words = std::vector<std::string>;

Words split(const std::string &list) {
    Words words;
    std::istringstream stream(list);
    for (std::string word; std::getline(stream, word, ',');)
        words.push_back(word);
    return words;
}

[[noreturn]] void refuse(const std::string &flag, const std::string &word, const std::string &known) {
    throw std::invalid_argument("--" + flag + ": unknown '" + word + "'; known: " + known);
}

// Checks each word against the names of a table.
template <class Table>
Words known_words(const std::string &flag, const std::string &list, const Table &table) {
    std::string known;
    for (const auto &entry : table)
        known += std::string(known.empty() ? "" : ", ") + entry.name;
    Words words = split(list);
    for (const std::string &word : words)
        if (std::none_of(table.begin(), table.end(), [&](const auto &entry) { return word == entry.name; }))
            refuse(flag, word, known);
    return words;
}

struct Named {
    std::string name;
};

Words parse_isas(const std::string &list) {
    std::vector<Named> names = {{"none"}, {"default"}};
    for (std::size_t i = 0; i < rownorm_isa_count(); i++)
        names.push_back({rownorm_isa_name(i)});
    return known_words("isa", list, names);
}

std::vector<Shape> parse_shapes(const std::string &list) {
    std::vector<Shape> shapes;
    for (const std::string &word : split(list)) {
        const std::vector<Shape> found = shapes_named(word);
        if (found.empty())
            refuse("shapes", word, "decode, prefill, heads, others, all, ROWSxCOLS");
        shapes.insert(shapes.end(), found.begin(), found.end());
    }
    return shapes;
}

std::vector<unsigned> parse_threads(const std::string &list) {
    std::vector<unsigned> threads;
    for (const std::string &word : split(list)) {
        unsigned number = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error != std::errc() || end != word.data() + word.size() || number < 1 || number > 1024)
            refuse("threads", word, "1 to 1024");
        threads.push_back(number);
    }
    return threads;
}

std::vector<Place> parse_places(const std::string &list) {
    std::vector<Place> places;
    for (const std::string &word : split(list)) {
        constexpr Place all[] = {Place::repeated, Place::cold_weight, Place::memory, Place::consumed, Place::slices};
        const auto *found = std::find_if(std::begin(all), std::end(all), [&](Place p) { return word == name_of(p); });
        if (found == std::end(all))
            refuse("from", word, "repeated, cold_weight, memory, consumed, slices");
        places.push_back(*found);
    }
    return places;
}

bool parse_switch(const std::string &flag, const std::string &word) {
    if (word != "on" && word != "off")
        refuse(flag, word, "on, off");
    return word == "on";
}

// Whether the flag was ours.
bool take(Options &options, const std::string &flag, const std::string &value) {
    if (flag == "isa")
        options.isas = parse_isas(value);
    else if (flag == "op")
        options.ops = known_words(flag, value, ops());
    else if (flag == "types")
        options.types = known_words(flag, value, mixes());
    else if (flag == "shapes")
        options.shapes = parse_shapes(value);
    else if (flag == "threads")
        options.threads = parse_threads(value);
    else if (flag == "from")
        options.places = parse_places(value);
    else if (flag == "limits")
        options.limits = parse_switch(flag, value);
    else if (flag == "peers")
        options.peers = parse_switch(flag, value);
    else
        return false;
    return true;
}

} // namespace

Options parse_options(int &argc, char **argv) {
    Options options;
    int kept = 1;
    for (int i = 1; i < argc; i++) {
        const std::string_view argument = argv[i];
        const std::size_t equals = argument.find('=');
        const bool ours =
            argument.starts_with("--") && equals != std::string_view::npos &&
            take(options, std::string(argument.substr(2, equals - 2)), std::string(argument.substr(equals + 1)));
        if (!ours)
            argv[kept++] = argv[i];
    }
    argc = kept;
    return options;
}

} // namespace rownorm_bench
