// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "commands.hpp"
#include "element.hpp"
#include "normalize.hpp"

#include <memory>

namespace command {

namespace {

constexpr const char *examples = R"(A file is never left half-written: OUT appears, or is replaced, when it is complete.
Any input may be FILE.npz:NAME or FILE.safetensors:NAME, and one of them - (standard input).
Exit codes: 0 done, 1 the work failed, 2 wrong usage.

Examples:
  RMSNorm of every row, with the gain and eps of a Llama-style model:
    rownorm normalize hidden.npy -o normed.npy --weight gain.npy --eps 1e-5
  Residual add and LayerNorm; the sum is kept, gain and bias come from the model's file:
    rownorm normalize x.npy -o y.npy --op layer --residual r.npy --residual-out sum.npy \
        --weight model.safetensors:norm.weight --bias model.safetensors:norm.bias
  bf16 activations (V2 in .npy) in place, checked against long double, with a report for scripts:
    rownorm normalize big.npy -o big.npy --force --type bf16 --verify --json)";

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
    const auto any = [](double) { return true; };
    const std::string group = "What to compute";
    add_choice(app, "--op", o.op, ops, "RMSNorm (the default), LayerNorm or L2Norm")->group(group);
    add_real(app, "--eps", o.eps, "Added under the root (l2: as --l2-eps says); default 1e-6 for every op and type",
             "a finite number >= 0", at_least_0)
        ->type_name("E")
        ->group(group);
    app.add_option("--axis", o.axis,
                   "Normalise along axis A, or with A.. along all axes from A on; default -1, the last")
        ->type_name("A")
        ->group(group);
    add_real(app, "--partial", o.partial, "RMSNorm: take the statistic of this share of each row",
             "a number above 0, at most 1", share)
        ->type_name("P")
        ->group(group);
    add_count<std::int64_t>(app, "--partial-count", o.partial_count, 1,
                            "RMSNorm: take it of the first K elements of each row", "an integer from 1")
        ->type_name("K")
        ->group(group);
    add_choice(app, "--l2-eps", o.l2_eps, modes,
               "L2Norm: divide by max(norm, eps) (the default), norm + eps, sqrt(norm^2 + eps) or "
               "sqrt(max(norm^2, eps))")
        ->group(group);
    add_real(app, "--weight-offset", o.weight_offset, "Added to each weight; 1 for the Gemma family, default 0",
             "a finite number", any)
        ->type_name("V")
        ->group(group);
    add_choice(app, "--round", o.round_before_weight, roundings,
               "Round once, at the end (the default), or round the normalised value to the output's type before the "
               "weight too")
        ->group(group);
}

void add_files(CLI::App &app, normalize_options &o) {
    const std::string group = "Arrays";
    app.add_option("-o,--output", o.output, "The .npy file to write; - is standard output")
        ->type_name("OUT")
        ->group(group);
    app.add_option("--weight", o.weight, "Gain: 1-d, as long as the rows")->type_name("F")->group(group);
    app.add_option("--bias", o.bias, "Bias, likewise")->type_name("F")->group(group);
    app.add_option("--residual", o.residual, "Normalise IN + F, of the same shape; the sum has the type of F")
        ->type_name("F")
        ->group(group);
    app.add_option("--residual-out", o.residual_out, "Write that sum, too; it may replace the residual")
        ->type_name("F")
        ->group(group);
    add_choice(app, "--type", o.type, type_choices(), "What opaque bytes are: V2 files need it, usually bf16")
        ->group(group);
    add_choice(app, "--out-type", o.out_type, type_choices(), "The type of OUT; default that of IN")->group(group);
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

void add_machine(CLI::App &app, normalize_options &o) {
    const std::string group = "Machine";
    app.add_option("--isa", o.isa, "Run exactly this instruction set, see rownorm isa")
        ->type_name("NAME")
        ->group(group);
    add_count<std::uint32_t>(app, "--threads", o.threads, 1, "Default: what affinity and quota allow",
                             "an integer from 1")
        ->type_name("N")
        ->group(group);
    app.add_option_function<std::string>(
           "--memory", [&o](const std::string &text) { o.memory_bytes = parse_memory(text); },
           "For rows in flight, weight and bias, such as 64M; default 192M. Longer rows are read in parts")
        ->type_name("SIZE")
        ->group(group);
}

void add_care(CLI::App &app, normalize_options &o) {
    const std::string group = "Care and reports";
    app.add_flag("--force", o.force, "Replace OUT if it exists; it may be IN")->group(group);
    app.add_flag("--fsync", o.fsync, "Return when OUT is on the disk")->group(group);
    app.add_flag("--verify", o.verify,
                 "Recompute in long double; beyond the documented error bound fail, before OUT appears")
        ->group(group);
    app.add_flag("--json", o.json, "Report what was done as one JSON object")->group(group);
    app.add_flag("-q,--quiet", o.quiet, "No summary, no progress")->group(group);
}

} // namespace

void add_normalize(CLI::App &program) {
    CLI::App &app = *program.add_subcommand("normalize", "Normalise the rows of an .npy file");
    const auto o = std::make_shared<normalize_options>();
    app.allow_extras();
    app.footer(examples);
    app.add_option("IN", o->input);
    add_files(app, *o);
    add_what(app, *o);
    add_care(app, *o);
    add_machine(app, *o);
    app.callback([&app, o] {
        refuse_unknown(app);
        if (o->input.empty() || o->output.empty())
            fail_usage("normalize: no {} found; expected rownorm normalize IN.npy -o OUT.npy",
                       o->input.empty() ? "input file" : "-o OUT");
        normalize(*o);
    });
}

} // namespace command
