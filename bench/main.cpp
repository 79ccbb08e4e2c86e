// SPDX-License-Identifier: Apache-2.0
#include "limits.hpp"
#include "machine.hpp"
#include "norm.hpp"
#include "options.hpp"
#include "peers.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>
#include <stdexcept>

namespace rownorm_bench {

namespace {

template <class Names>
bool wants(const Names &names, const std::string &name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

bool is_in(const Shape &shape, const char *group) {
    const std::vector<Shape> shapes = shapes_named(group);
    return std::find(shapes.begin(), shapes.end(), shape) != shapes.end();
}

std::vector<Shape> wanted_shapes(const Options &options) {
    std::vector<Shape> shapes = options.shapes;
    if (shapes.empty())
        for (const char *group : {"decode", "prefill", "heads"})
            for (const Shape &shape : shapes_named(group))
                shapes.push_back(shape);
    return shapes;
}

std::vector<unsigned> wanted_threads(const Options &options, const Shape &shape) {
    if (!options.threads.empty())
        return options.threads;
    if (is_in(shape, "prefill") && cores() > 1)
        return {1, cores()};
    return {1};
}

std::vector<Place> wanted_places(const Options &options, const Shape &shape) {
    if (!options.places.empty())
        return options.places;
    if (is_in(shape, "decode"))
        return {Place::repeated, Place::cold_weight};
    return {Place::repeated};
}

// What plans choose by themselves, and the best ISA first; or those that were asked for.
std::vector<std::string> wanted_isas(const Options &options) {
    std::vector<std::string> isas;
    if (wants(options.isas, "default"))
        isas.emplace_back("default");
    for (std::size_t i = 0; i < rownorm_isa_count(); i++)
        if (wants(options.isas, rownorm_isa_name(i)))
            isas.emplace_back(rownorm_isa_name(i));
    return isas;
}

void register_limits(const Cell &cell) {
    for (const Limit &limit : limits()) {
        if (!limit.applies(cell))
            continue;
        Cell named = cell;
        const Op op = {limit.name, ROWNORM_RMS_NORM, false, false, 0};
        named.op = &op;
        benchmark::RegisterBenchmark(name_of(named, "limit").c_str(),
                                     [cell, &limit](benchmark::State &state) { run_limit(state, cell, limit); });
    }
}

// All contestants of a cell stand beside each other, so that they are timed at nearly the same moment.
void register_cell(const Cell &cell, const Options &options) {
    for (const std::string &isa : wanted_isas(options))
        benchmark::RegisterBenchmark(name_of(cell, isa).c_str(),
                                     [cell, isa](benchmark::State &state) { run_norm(state, cell, isa); });
    if (options.peers && cell.place != Place::slices) // peers know no strides
        register_peers(cell);
}

void register_shape(const Mix &mix, const Shape &shape, Place place, unsigned threads, const Options &options) {
    Cell cell{&ops()[0], &mix, shape, place, threads};
    if (options.limits)
        register_limits(cell);
    for (const Op &op : ops()) {
        cell.op = &op;
        if (wants(options.ops, op.name))
            register_cell(cell, options);
    }
}

void register_all(const Options &options) {
    for (const Mix &mix : mixes())
        for (const Shape &shape : wanted_shapes(options))
            for (const Place place : wanted_places(options, shape))
                for (const unsigned threads : wanted_threads(options, shape))
                    if (wants(options.types, mix.name))
                        register_shape(mix, shape, place, threads, options);
    register_call_overhead();
}

std::string runnable_isas() {
    std::string names;
    for (std::size_t i = 0; i < rownorm_isa_count(); i++)
        names += std::string(i == 0 ? "" : " ") + rownorm_isa_name(i);
    return names;
}

void describe_machine() {
    const auto number = [](double value) {
        char text[32];
        std::snprintf(text, sizeof text, "%.2f", value);
        return std::string(text);
    };
    const auto kib = [](std::size_t bytes) { return std::to_string(bytes >> 10) + " KiB"; };
    benchmark::AddCustomContext("cpu", cpu_name());
    benchmark::AddCustomContext("caches", "L1d " + kib(caches().l1_bytes) + ", L2 " + kib(caches().l2_bytes) + ", L3 " +
                                              kib(caches().l3_bytes));
    benchmark::AddCustomContext("measured GHz", number(measured_ghz()));
    benchmark::AddCustomContext("noise", number(measured_noise_percent()) + " % (p90 over the median of equal work)");
    benchmark::AddCustomContext("rownorm isas", runnable_isas());
}

bool asks_for_help(int argc, char **argv) {
    return std::any_of(argv + 1, argv + argc,
                       [](const char *word) { return !std::strcmp(word, "--help") || !std::strcmp(word, "-h"); });
}

// With a shorter default time: there are many cells, and each is steady after a tenth of a second.
bool initialize_google_benchmark(int argc, char **argv) {
    static char min_time[] = "--benchmark_min_time=0.1";
    std::vector<char *> words(argv, argv + argc);
    words.insert(words.begin() + 1, min_time);
    int count = argc + 1;
    benchmark::Initialize(&count, words.data());
    return !benchmark::ReportUnrecognizedArguments(count, words.data());
}

int run(int argc, char **argv) {
    if (asks_for_help(argc, argv)) {
        std::fputs(usage, stdout);
        return 0;
    }
    const Options options = parse_options(argc, argv);
    if (!initialize_google_benchmark(argc, argv))
        return 2;
    describe_machine();
    register_all(options);
    const std::size_t ran = benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return ran == 0;
}

} // namespace

} // namespace rownorm_bench

int main(int argc, char **argv) {
    try {
        return rownorm_bench::run(argc, argv);
    } catch (const std::invalid_argument &error) {
        std::fprintf(stderr, "rownorm_bench: %s\n", error.what());
        return 2;
    }
}
