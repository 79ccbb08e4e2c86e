// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "commands.hpp"
#include "plot.hpp"
#include "report.hpp"
#include "row_stats.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace command {

namespace {

using nlohmann::ordered_json;

struct info_options {
    std::string input;
    std::optional<std::string> axis;
    std::optional<rownorm_type> type;
    bool json = false;
    bool plot = false;
    std::optional<std::string> plot_out;
    bool force = false;
};

std::string number(std::int64_t value) { return grouped(std::uint64_t(value)); }

class info_job {
public:
    explicit info_job(const info_options &options)
        : in_(open_array(options.input, options.type)),
          axes_(parse_axes(options.axis.value_or("-1"), in_.info.shape.size(), in_.name())),
          layout_(rows_of(in_.info, axes_, in_.name())) {
        require_opaque(in_, options.type);
    }

    void measure() {
        if (!layout_.dense() && !in_.from->random_access())
            fail("{}: not a file; expected one where rows are not one after the other", in_.name());
        read();
        finish_reading(in_);
    }

    const row_stats &stats() const { return stats_; }
    const std::string &name() const { return in_.name(); }

    std::string text() const {
        const row_stats &s = stats_;
        std::string out = fmt::format("{}: {} ({}), shape {}, {} order, {}\n", in_.name(), type_name(in_.info.of.type),
                                      in_.info.of.descr, shape_text(in_.info.shape), order(),
                                      bytes_text(std::uint64_t(in_.info.bytes)));
        out += fmt::format("rows      {} of {}\n", number(s.rows), s.n);
        if (s.finite_rows > 0) {
            out += fmt::format("rms       min {:.6g} (row {}), median {:.6g}{}, max {:.6g} (row {})\n", s.least_rms,
                               s.least_row, s.median_rms, sample_note(), s.largest_rms, s.largest_row);
            out += fmt::format("largest   {:.6g} at {}: row {}, channel {}{}\n", s.largest_value,
                               shape_text(largest_index()), s.largest_at.row, s.largest_at.channel, times_median());
        }
        if (s.largest_channel >= 0)
            out += fmt::format("channel   {} has the largest rms, {:.6g}\n", s.largest_channel, s.largest_channel_rms);
        out += fmt::format("NaN       {} in {} rows\n", number(s.nan_elements), number(s.nan_rows));
        out += fmt::format("infinity  {} in {} rows\n", number(s.infinite_elements), number(s.infinity_rows));
        if (s.finite_rows > 0 && s.finite_rows < s.rows)
            out += "(rms, largest and channel are of the rows without NaN and infinity)\n";
        return out;
    }

    std::string json() const {
        const row_stats &s = stats_;
        ordered_json j;
        j["input"] = in_.name();
        j["type"] = type_name(in_.info.of.type);
        j["descr"] = in_.info.of.descr;
        j["shape"] = in_.info.shape;
        j["order"] = order();
        j["bytes"] = in_.info.bytes;
        j["rows"] = s.rows;
        j["n"] = s.n;
        j["nan_elements"] = s.nan_elements;
        j["nan_rows"] = s.nan_rows;
        j["infinite_elements"] = s.infinite_elements;
        j["infinity_rows"] = s.infinity_rows;
        j["rms"] = nullptr;
        if (s.finite_rows > 0) {
            j["rms"] = {{"min", s.least_rms},   {"min_row", s.least_row},   {"median", s.median_rms},
                        {"max", s.largest_rms}, {"max_row", s.largest_row}, {"median_of_every", s.sampled}};
            j["largest"] = {{"value", s.largest_value},
                            {"row", s.largest_at.row},
                            {"channel", s.largest_at.channel},
                            {"index", largest_index()}};
        }
        if (s.largest_channel >= 0)
            j["largest_channel"] = {{"channel", s.largest_channel}, {"rms", s.largest_channel_rms}};
        return j.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
    }

private:
    void read() {
        progress shown(std::uint64_t(in_.info.bytes), true);
        stats_ = measure_rows(in_, layout_, shown);
    }

    const char *order() const { return in_.info.fortran ? "Fortran" : "C"; }

    std::vector<std::int64_t> largest_index() const {
        return index_of(in_.info, axes_, layout_, stats_.largest_at.row, stats_.largest_at.channel);
    }

    std::string sample_note() const {
        return stats_.sampled == 1 ? "" : fmt::format(" (sampled: one row in {})", stats_.sampled);
    }

    std::string times_median() const {
        return stats_.median_rms > 0
                   ? fmt::format(", {:.3g} times the median rms", std::fabs(stats_.largest_value) / stats_.median_rms)
                   : "";
    }

    array_input in_;
    const axis_range axes_;
    const row_layout layout_;
    row_stats stats_;
};

void info(const info_options &options) {
    if (options.json && options.plot)
        fail_usage("--json and --plot exclude each other; --plot-out goes with both");
    if (options.plot_out)
        check_plot_name(*options.plot_out);
    info_job job(options);
    job.measure();
    print(options.json ? job.json() : job.text());
    const histogram h = histogram_of(job.stats(), 20);
    if (options.plot)
        print(terminal_plot(h));
    if (options.plot_out)
        write_plot(*options.plot_out, options.force, job.name(), h);
}

} // namespace

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

} // namespace command
