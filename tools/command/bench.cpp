// SPDX-License-Identifier: Apache-2.0
#include "bench.hpp"

#include "about.hpp"
#include "failure.hpp"
#include "report.hpp"
#include "text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace command {

namespace {

using nlohmann::ordered_json;

struct bench_result {
    bench_machine machine;
    limits_result limits;
    std::vector<cell_result> cells; ///< one for each of bench_cells()
};

bench_result measure(double seconds) {
    const double part = seconds / double(bench_cells().size() + 1);
    bench_result result;
    result.machine = describe_machine();
    for (const bench_cell &cell : bench_cells())
        result.cells.push_back(measure_cell(cell, part));
    // At the end: it fills the caches, and after it a processor may run more slowly for a while.
    result.limits = measure_limits(std::max(result.machine.l2_bytes, result.machine.l3_bytes), part);
    return result;
}

const char *op_name(rownorm_op op) { return op == ROWNORM_LAYER_NORM ? "layer_norm" : "rms_norm"; }

const char *type_of(const bench_cell &cell) { return cell.type == ROWNORM_BF16 ? "bf16" : "f32"; }

std::string cache_text(std::size_t bytes) { return bytes == 0 ? "unknown" : bytes_text(bytes); }

std::string head_text(const bench_result &result) {
    const bench_machine &m = result.machine;
    std::string out = fmt::format("rownorm {}, {}, ISA {} (of {})\n", version_number(), compiler(), chosen_isa(),
                                  fmt::join(built_isas(), ", "));
    out += fmt::format("CPU     {}, {} usable, load {:.1f}\n", printable(m.cpu), m.cpus, m.load);
    out += fmt::format("caches  L1d {}, L2 {}, L3 {}\n", cache_text(m.l1d_bytes), cache_text(m.l2_bytes),
                       cache_text(m.l3_bytes));
    out += fmt::format("limits  memcpy {:.1f} GB/s, read {:.1f} GB/s, of {}\n", result.limits.memcpy_rate / 1e9,
                       result.limits.read_rate / 1e9, bytes_text(result.limits.bytes));
    return out;
}

std::string text(const bench_result &result) {
    std::string out = head_text(result);
    out += fmt::format("\n{:<34}{:>9}{:>8}{:>12}{:>9}\n", "one thread", "ns/row", "GB/s", "of memcpy", "spread");
    for (std::size_t i = 0; i < result.cells.size(); ++i) {
        const bench_cell &cell = bench_cells()[i];
        const cell_result &r = result.cells[i];
        const std::string shape = fmt::format("{}x{}", cell.rows, cell.n);
        out +=
            fmt::format("{:<9}{:<11}{:<5}{:<9}{:>9.1f}{:>8.1f}{:>10.0f} %{:>7.0f} %\n", cell.use, op_name(cell.op),
                        type_of(cell), shape, r.ns_per_row, r.rate / 1e9, 100 * r.rate / r.memcpy_rate, 100 * r.spread);
    }
    return out;
}

ordered_json cell_json(const bench_cell &cell, const cell_result &r) {
    return {{"use", cell.use},
            {"op", op_name(cell.op)},
            {"type", type_of(cell)},
            {"rows", cell.rows},
            {"n", cell.n},
            {"ns_per_row", r.ns_per_row},
            {"gigabytes_per_second", r.rate / 1e9},
            {"memcpy_gigabytes_per_second", r.memcpy_rate / 1e9},
            {"share_of_memcpy", r.rate / r.memcpy_rate},
            {"spread", r.spread}};
}

std::string as_json(const bench_result &result, double seconds) {
    const bench_machine &m = result.machine;
    ordered_json j;
    j["version"] = version_number();
    j["compiler"] = compiler();
    j["isa"] = chosen_isa();
    j["built_isas"] = built_isas();
    j["cpu"] = m.cpu;
    j["cpus"] = m.cpus;
    j["load"] = m.load;
    j["cache_bytes"] = {{"l1d", m.l1d_bytes}, {"l2", m.l2_bytes}, {"l3", m.l3_bytes}};
    j["limits"] = {{"bytes", result.limits.bytes},
                   {"memcpy_gigabytes_per_second", result.limits.memcpy_rate / 1e9},
                   {"read_gigabytes_per_second", result.limits.read_rate / 1e9}};
    j["seconds"] = seconds;
    j["cells"] = ordered_json::array();
    for (std::size_t i = 0; i < result.cells.size(); ++i)
        j["cells"].push_back(cell_json(bench_cells()[i], result.cells[i]));
    return j.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace

void bench(const bench_options &options) {
    chosen_isa(); // fails where none is
    const bench_result result = measure(options.seconds);
    print(options.json ? as_json(result, options.seconds) : text(result));
}

} // namespace command
