// SPDX-License-Identifier: Apache-2.0
#include "diff.hpp"

#include "compare.hpp"
#include "failure.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "rows.hpp"
#include "text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace command {

namespace {

/// That are in memory of each array.
constexpr std::int64_t most_elements = std::int64_t(1) << 21;

/// The index of element number `flat` of an array of that shape.
std::vector<std::int64_t> unravel(std::int64_t flat, const std::vector<std::int64_t> &shape, bool fortran) {
    std::vector<std::int64_t> index(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const std::size_t axis = fortran ? i : shape.size() - 1 - i;
        index[axis] = flat % shape[axis];
        flat /= shape[axis];
    }
    return index;
}

class diff_job {
public:
    explicit diff_job(const diff_options &options)
        : a_(open_array(options.a, options.type)), b_(open_array(options.b, options.type)),
          comparer_(a_.info.of.type, b_.info.of.type, options.ulp) {
        if (!a_.info.of.opaque && !b_.info.of.opaque)
            require_opaque(a_, options.type);
        if (!same_shape())
            return;
        // In one order, element by element of the files; else by the first axis, whose index finds the same
        // elements in both, and these in C order.
        const std::size_t axes = a_.info.shape.size();
        const axis_range rest{axes > 1 && !same_order() ? 1u : 0u, axes};
        rows_a_ = same_order() ? row_layout{a_.info.elements, 1, 1, {}} : rows_of(a_.info, rest, a_.name());
        rows_b_ = same_order() ? rows_a_ : rows_of(b_.info, rest, b_.name());
    }

    bool same_shape() const { return a_.info.shape == b_.info.shape; }

    comparison run(bool wants_progress) {
        if (a_.info.elements > 0) {
            require_access(a_, rows_a_);
            require_access(b_, rows_b_);
            progress shown(std::uint64_t(a_.info.bytes), wants_progress);
            rows_a_.n > most_elements ? compare_parts(shown) : compare_rows(shown);
        }
        finish_reading(a_);
        finish_reading(b_);
        return comparer_.result();
    }

    std::string names() const { return fmt::format("{} and {}", a_.name(), b_.name()); }

    std::string shapes() const {
        return fmt::format("{}: shapes {} and {} found; expected one shape\n", names(), shape_text(a_.info.shape),
                           shape_text(b_.info.shape));
    }

    std::string report(const comparison &c, std::uint64_t ulp_allowed) const {
        const std::string of = fmt::format("{} elements of {}{}", grouped(std::uint64_t(c.elements)),
                                           type_name(a_.info.of.type), other_type());
        if (c.differing == 0)
            return fmt::format("{}: equal, {}\n", names(), of);
        const double share = 100.0 * double(c.differing) / double(c.elements);
        std::string text =
            fmt::format("{}: {} of {} differ ({:.3g} %)\n", names(), grouped(std::uint64_t(c.differing)), of, share);
        text += line("absolute", c.absolute, fmt::format("{:.6g}", c.absolute.value));
        text += line("relative", c.relative, fmt::format("{:.6g}", c.relative.value));
        const std::string ulp = grouped(std::uint64_t(c.ulp.value));
        text += line("ulp", c.ulp, fmt::format("{} {}", ulp, type_name(comparer_.ulp_type())));
        if (c.nan_against > 0)
            text += fmt::format("  NaN against a number: {}\n", grouped(std::uint64_t(c.nan_against)));
        text += c.beyond == 0
                    ? fmt::format("equal within {} ulp\n", ulp_allowed)
                    : fmt::format("not equal: {} beyond {} ulp\n", grouped(std::uint64_t(c.beyond)), ulp_allowed);
        return text;
    }

    std::string json(const comparison &c) const {
        const auto at = [&](const extreme &most) -> nlohmann::ordered_json {
            if (most.index < 0)
                return nullptr;
            // JSON has no infinity: null then.
            return {{"value", most.value}, {"index", index_of_element(most.index)}, {"a", most.a}, {"b", most.b}};
        };
        nlohmann::ordered_json j;
        j["a"] = a_.name();
        j["b"] = b_.name();
        j["same_shape"] = same_shape();
        if (same_shape()) {
            j["equal"] = c.beyond == 0;
            j["elements"] = c.elements;
            j["differing"] = c.differing;
            j["beyond_ulp"] = c.beyond;
            j["nan_against_number"] = c.nan_against;
            j["largest_absolute"] = at(c.absolute);
            j["largest_relative"] = at(c.relative);
            j["largest_ulp"] = at(c.ulp);
            j["ulp_type"] = type_name(comparer_.ulp_type());
        }
        return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    }

private:
    bool same_order() const { return a_.info.fortran == b_.info.fortran || a_.info.shape.size() < 2; }

    static void require_access(const array_input &in, const row_layout &rows) {
        if (!rows.dense() && !in.from->random_access())
            fail("{}: not a file; expected one to compare Fortran with C order", in.name());
    }

    void compare_rows(progress &shown) {
        row_reader a(a_, rows_a_), b(b_, rows_b_);
        const std::int64_t n = rows_a_.n, step = std::max<std::int64_t>(most_elements / n, 1);
        for (std::int64_t first = 0; first < rows_a_.rows(); first += step) {
            const std::int64_t rows = std::min(step, rows_a_.rows() - first);
            make_room(rows * n);
            a.read(first, rows, bytes_a_);
            b.read(first, rows, bytes_b_);
            comparer_.add(bytes_a_, bytes_b_, first * n);
            shown.advance(bytes_a_.size());
        }
    }

    /// What has one index of the first axis does not fit the memory.
    void compare_parts(progress &shown) {
        row_reader a(a_, rows_a_), b(b_, rows_b_);
        for (std::int64_t row = 0; row < rows_a_.rows(); ++row)
            for (std::int64_t first = 0; first < rows_a_.n; first += most_elements) {
                const std::int64_t count = std::min(most_elements, rows_a_.n - first);
                make_room(count);
                a.read_part(row, first, bytes_a_);
                b.read_part(row, first, bytes_b_);
                comparer_.add(bytes_a_, bytes_b_, row * rows_a_.n + first);
                shown.advance(bytes_a_.size());
            }
    }

    void make_room(std::int64_t elements) {
        bytes_a_.resize(std::size_t(elements) * type_bytes(a_.info.of.type));
        bytes_b_.resize(std::size_t(elements) * type_bytes(b_.info.of.type));
    }

    std::vector<std::int64_t> index_of_element(std::int64_t flat) const {
        return unravel(flat, a_.info.shape, a_.info.fortran && b_.info.fortran);
    }

    std::string other_type() const {
        return a_.info.of.type == b_.info.of.type ? "" : fmt::format(" and {}", type_name(b_.info.of.type));
    }

    std::string line(const char *what, const extreme &most, const std::string &value) const {
        if (most.index < 0)
            return "";
        return fmt::format("  largest {:<8} {:<12} at {}: {:.9g} and {:.9g}\n", what, value,
                           shape_text(index_of_element(most.index)), most.a, most.b);
    }

    array_input a_, b_;
    row_layout rows_a_, rows_b_;
    std::vector<std::byte> bytes_a_, bytes_b_;
    comparer comparer_;
};

} // namespace

int diff(const diff_options &options) {
    if (options.a == "-" && options.b == "-")
        fail_usage("only one input can be read from standard input (-)");
    diff_job job(options);
    if (!job.same_shape()) {
        if (options.json || !options.quiet)
            print(options.json ? job.json({}) : job.shapes());
        return exit_failed;
    }
    const comparison result = job.run(!options.quiet);
    if (options.json || !options.quiet)
        print(options.json ? job.json(result) : job.report(result, options.ulp));
    return result.beyond == 0 ? exit_done : exit_failed;
}

} // namespace command
