// SPDX-License-Identifier: Apache-2.0
// The options of the subcommands but normalize: apart from what these do, as CLI11's header is most of the time that a
// file with it takes to compile.
#include "commands.hpp"

#include "bench.hpp"
#include "command_line.hpp"
#include "diff.hpp"
#include "element.hpp"
#include "info.hpp"
#include "isa.hpp"

#include <memory>

namespace command {

void add_info(CLI::App &program) {
    CLI::App &app = *program.add_subcommand("info", "Say what an array holds: type, shape, rms of rows, NaN, infinity");
    const auto o = std::make_shared<info_options>();
    app.allow_extras();
    app.footer(R"(The median is exact up to 2^24 rows; of more it is sampled, and says so.

Examples:
  Type, shape, rms of the rows, NaN and infinity, and the largest activation:
    rownorm info hidden.npy
  A tensor of a model, for scripts:
    rownorm info model.safetensors:norm.weight --json
  A histogram of the rows' rms on the terminal and as a picture:
    rownorm info hidden.npy --plot --plot-out rms.svg)");
    app.add_option("F", o->input);
    app.add_option("--axis", o->axis, "Axis of the rows: A, or A.. for all axes from A on; default -1, the last")
        ->type_name("A");
    add_choice(app, "--type", o->type, type_choices(), "What opaque bytes are: V2 files need it, usually bf16");
    app.add_flag("--json", o->json, "Report as one JSON object");
    app.add_flag("--plot", o->plot, "Also draw a histogram of the rows' rms");
    app.add_option("--plot-out", o->plot_out, "Write that histogram as a picture; needs Python 3 with matplotlib")
        ->type_name("F.svg|F.png");
    app.add_flag("--force", o->force, "Replace the picture if it exists");
    app.callback([&app, o] {
        refuse_unknown(app);
        if (o->input.empty())
            fail_usage("info: no input file found; expected rownorm info F.npy");
        info(*o);
    });
}

void add_diff(CLI::App &program, outcome &result) {
    CLI::App &app =
        *program.add_subcommand("diff", "Say how much two arrays differ; exit code 0 if they are equal, else 1");
    const auto o = std::make_shared<diff_options>();
    app.allow_extras();
    app.footer(
        R"(Two NaNs are equal, and so are 0 and -0. Relative differences are to B. Arrays of two types are
compared in ulp of the less precise one.

Examples:
  Are two arrays equal?
    rownorm diff a.npy b.npy
  May a result differ by 3 units in the last place from a reference?
    rownorm diff y.npy reference.npy --ulp 3
  A bf16 file against the f32 one it was made of, for scripts:
    rownorm diff rounded.npy full.npy --type bf16 --json)");
    app.add_option("A", o->a);
    app.add_option("B", o->b);
    add_count<std::uint64_t>(app, "--ulp", o->ulp, 0, "Differences up to N ulp are equal; default 0",
                             "an integer from 0")
        ->type_name("N");
    add_choice(app, "--type", o->type, type_choices(), "What opaque bytes are: V2 files need it, usually bf16");
    app.add_flag("--json", o->json, "Report as one JSON object");
    app.add_flag("-q,--quiet", o->quiet, "Only the exit code");
    app.callback([&app, &result, o] {
        refuse_unknown(app);
        if (o->a.empty() || o->b.empty())
            fail_usage("diff: two files expected: rownorm diff A.npy B.npy");
        result.exit_code = diff(*o);
    });
}

void add_isa(CLI::App &program) {
    CLI::App &app = *program.add_subcommand("isa", "List the instruction sets, and which one runs");
    app.allow_extras();
    app.footer("The environment variable ROWNORM_MAX_ISA caps the choice; normalize --isa forces one.");
    app.callback([&app] {
        refuse_unknown(app);
        list_isas();
    });
}

void add_bench(CLI::App &program) {
    CLI::App &app =
        *program.add_subcommand("bench", "Measure this machine for a report: ISA, caches, limits, six norms");
    const auto o = std::make_shared<bench_options>();
    app.allow_extras();
    app.footer(R"(GB/s are of the bytes that must at least be moved; the share is of memcpy's on the same buffers,
which a norm of rows in the caches cannot reach, as it reads them twice. Spread: how much longer
than the median the slowest tenth took; above a few percent, see what else runs.

Examples:
  Ten seconds, to paste into a report:
    rownorm bench
  One second, for scripts:
    rownorm bench --seconds 1 --json
  The same machine without AVX-512:
    ROWNORM_MAX_ISA=avx2 rownorm bench)");
    add_real(app, "--seconds", o->seconds, "How long to measure; default 10", "a number from 0.01 to 3600",
             [](double s) { return s >= 0.01 && s <= 3600; })
        ->type_name("S");
    app.add_flag("--json", o->json, "Report as one JSON object");
    app.callback([&app, o] {
        refuse_unknown(app);
        bench(*o);
    });
}

} // namespace command
