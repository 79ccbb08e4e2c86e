// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "commands.hpp"
#include "element.hpp"
#include "normalize.hpp"

#include <memory>

namespace command {

namespace {

void add_what(CLI::App &app, normalize_options &o) {
    const std::vector<std::pair<std::string, rownorm_op>> ops{
        {"rms", ROWNORM_RMS_NORM}, {"layer", ROWNORM_LAYER_NORM}, {"l2", ROWNORM_L2_NORM}};
    const std::vector<std::pair<std::string, rownorm_l2_eps>> modes{{"max", ROWNORM_L2_EPS_MAX},
                                                                    {"add", ROWNORM_L2_EPS_ADD},
                                                                    {"inside", ROWNORM_L2_EPS_INSIDE},
                                                                    {"clamp", ROWNORM_L2_EPS_CLAMP}};
    const std::vector<std::pair<std::string, bool>> roundings{{"once", false}, {"before-weight", true}};
    const auto at_least_0 = [](double v) { return v >= 0; };
    const auto share = [](double v) { return v > 0 && v <= 1; };
    add_choice(app, "--op", o.op, ops, "The norm: RMSNorm (default), LayerNorm or L2Norm");
    add_real(app, "--eps", o.eps, "Added under the root (default 1e-6, for every op and type)", "a finite number >= 0",
             at_least_0)
        ->type_name("E");
    add_choice(app, "--l2-eps", o.l2_eps, modes, "How L2Norm uses eps (default max)");
    app.add_option("--axis", o.axis, "Axis to normalise along: A, or A.. for all axes from A on (default -1, the last)")
        ->type_name("A");
    CLI::Option *const p = add_real(app, "--partial", o.partial, "RMSNorm: statistic of this share of each row",
                                    "a number above 0, at most 1", share);
    CLI::Option *const k = add_count<std::int64_t>(app, "--partial-count", o.partial_count, 1,
                                                   "RMSNorm: statistic of the first K elements", "an integer from 1");
    p->type_name("P")->excludes(k);
    k->type_name("K");
    add_choice(app, "--round", o.round_before_weight, roundings,
               "Round the normalised value to the output's type before the weight too, or once at the end (default)");
}

void add_files(CLI::App &app, normalize_options &o) {
    app.add_option("--weight", o.weight, "Gain: 1-d, as long as the last axis")->type_name("F.npy");
    app.add_option("--bias", o.bias, "Bias, likewise")->type_name("F.npy");
    add_real(app, "--weight-offset", o.weight_offset, "Added to each weight: 1 for the Gemma family (default 0)",
             "a finite number", [](double) { return true; })
        ->type_name("V");
    app.add_option("--residual", o.residual, "Normalise IN plus this array of the same shape")->type_name("F.npy");
    app.add_option("--residual-out", o.residual_out, "Also write that sum, in the residual's type")->type_name("F.npy");
}

/// As sort -S and others take it.
std::size_t parse_memory(const std::string &text) {
    constexpr const char *expected = "an integer from 1 and K, M or G, such as 64M; at most 1024G";
    const std::size_t unit = text.empty() ? std::string::npos : std::string_view("KMG").find(text.back());
    const std::string digits = text.substr(0, text.empty() ? 0 : text.size() - 1);
    if (unit == std::string::npos)
        fail_usage("--memory: {} found; expected {}", in_quotes(text), expected);
    const auto number = parse_number<std::uint32_t>("--memory", digits, expected);
    const std::size_t bytes = std::size_t(number) << (10 * (unit + 1));
    if (number < 1 || bytes > std::size_t(1) << 40)
        fail_usage("--memory: {} found; expected {}", in_quotes(text), expected);
    return bytes;
}

void add_memory(CLI::App &app, std::size_t &into) {
    app.add_option_function<std::string>(
           "--memory", [&into](const std::string &text) { into = parse_memory(text); },
           "For rows in flight, weight and bias (default 192M)")
        ->type_name("SIZE");
}

void add_how(CLI::App &app, normalize_options &o) {
    add_choice(app, "--type", o.type, type_choices(), "What opaque bytes are; V2 files need it (bf16)");
    add_choice(app, "--out-type", o.out_type, type_choices(), "Type of OUT (default: that of IN)");
    app.add_option("--isa", o.isa, "Run exactly this ISA (see rownorm isa)")->type_name("NAME");
    add_count<std::uint32_t>(app, "--threads", o.threads, 1, "Threads (default: what the machine allows)",
                             "an integer from 1")
        ->type_name("N");
    add_memory(app, o.memory_bytes);
    app.add_flag("--force", o.force, "Replace OUT if it exists; it may be IN");
    app.add_flag("--fsync", o.fsync, "Wait until OUT is on the disk");
    app.add_flag("--verify", o.verify, "Recompute in long double and fail, before OUT appears, beyond the error bound");
    app.add_flag("--json", o.json, "The summary as one JSON object");
    app.add_flag("-q,--quiet", o.quiet, "No summary and no progress");
}

} // namespace

void add_normalize(CLI::App &program) {
    CLI::App &app = *program.add_subcommand("normalize", "Normalise the rows of an .npy file");
    const auto o = std::make_shared<normalize_options>();
    app.allow_extras();
    app.add_option("IN", o->input, "The .npy file to normalise along its last axis; - is standard input")
        ->type_name("");
    app.add_option("-o,--output", o->output, "The .npy file to write; - is standard output")->type_name("OUT");
    add_what(app, *o);
    add_files(app, *o);
    add_how(app, *o);
    app.callback([&app, o] {
        refuse_unknown(app);
        if (o->input.empty() || o->output.empty())
            fail_usage("normalize: no {} found; expected rownorm normalize IN.npy -o OUT.npy",
                       o->input.empty() ? "input file" : "-o OUT");
        normalize(*o);
    });
}

} // namespace command
