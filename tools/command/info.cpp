// SPDX-License-Identifier: Apache-2.0
#include "info.hpp"

#include "failure.hpp"
#include "plot.hpp"
#include "report.hpp"
#include "row_stats.hpp"
#include "text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace command {

namespace {

using nlohmann::ordered_json;

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

} // namespace

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

} // namespace command
