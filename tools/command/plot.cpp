// SPDX-License-Identifier: Apache-2.0
#include "plot.hpp"

#include "child.hpp"
#include "failure.hpp"
#include "text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include <unistd.h>

namespace command {

namespace {

constexpr std::int64_t widest_bar = 50;

/// Beside the installed command, or where it was built.
std::string script_path() {
    char exe[4096];
    const ssize_t length = ::readlink("/proc/self/exe", exe, sizeof exe);
    const std::string self(exe, length > 0 ? std::size_t(length) : 0);
    const std::string installed = self.substr(0, self.rfind('/') + 1) + ROWNORM_PLOT_SCRIPT_FROM_BIN;
    return ::access(installed.c_str(), R_OK) == 0 ? installed : ROWNORM_PLOT_SCRIPT_IN_SOURCE;
}

/// As many digits as tell each edge from the next one, but not fewer than 5.
int digits_of(const std::vector<double> &edges) {
    const auto look_alike = [&](int digits) {
        return std::adjacent_find(edges.begin(), edges.end(), [&](double a, double b) {
                   return fmt::format("{:.{}g}", a, digits) == fmt::format("{:.{}g}", b, digits);
               }) != edges.end();
    };
    int digits = 5;
    while (edges.size() > 2 && digits < 17 && look_alike(digits))
        ++digits;
    return digits;
}

} // namespace

std::string terminal_plot(const histogram &h) {
    std::string out = fmt::format("rms of rows{}\n", h.logarithmic ? " (logarithmic scale)" : "");
    const std::int64_t most = h.counts.empty() ? 1 : *std::max_element(h.counts.begin(), h.counts.end());
    const int digits = digits_of(h.edges);
    for (std::size_t i = 0; i < h.counts.size(); ++i) {
        // What is there is seen: at least one mark.
        const std::int64_t width = (h.counts[i] * widest_bar + most - 1) / most;
        out +=
            fmt::format("{:>{}.{}g} to {:<{}.{}g} {:<50} {}\n", h.edges[i], digits + 6, digits, h.edges[i + 1],
                        digits + 6, digits, std::string(std::size_t(width), '#'), grouped(std::uint64_t(h.counts[i])));
    }
    return out;
}

void check_plot_name(const std::string &path) {
    if (!path.ends_with(".svg") && !path.ends_with(".png"))
        fail_usage("--plot-out: {} found; expected a name that ends in .svg or .png", in_quotes(path));
}

void write_plot(const std::string &path, bool force, const std::string &title, const histogram &h) {
    target to(path, force);
    const nlohmann::json job{{"title", title},
                             {"edges", h.edges},
                             {"counts", h.counts},
                             {"logarithmic", h.logarithmic},
                             {"format", path.substr(path.size() - 3)}};
    const std::string picture = run_filter({"python3", "-B", script_path()},
                                           job.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    to.write(std::as_bytes(std::span(picture)));
    to.finish(std::int64_t(picture.size()), false);
    to.commit(false);
}

} // namespace command
