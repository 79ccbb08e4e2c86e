// SPDX-License-Identifier: Apache-2.0
#include "row_stats.hpp"

#include "convert.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

namespace command {

namespace {

constexpr std::int64_t converted_at_once = 1024;
constexpr std::int64_t part_bytes = std::int64_t(1) << 20;
constexpr std::int64_t tile_bytes = std::int64_t(32) << 20;

using take_part = std::function<void(std::int64_t row, std::int64_t first, std::span<const std::byte>)>;

/// Goes through all elements: rows in order, each in one part or in several in order.
class walk {
public:
    walk(array_input &in, const row_layout &layout, progress &shown, take_part take)
        : reader_(in, layout), layout_(layout), width_(std::int64_t(type_bytes(in.info.of.type))), shown_(shown),
          take_(std::move(take)) {}

    void run() {
        const std::int64_t most = layout_.dense() ? part_bytes : tile_bytes, row_bytes = layout_.n * width_;
        row_bytes > most ? parts_of_rows() : blocks_of_rows(most / row_bytes);
    }

private:
    void parts_of_rows() {
        const std::int64_t step = part_bytes / width_;
        for (std::int64_t row = 0; row < layout_.rows(); ++row)
            for (std::int64_t first = 0; first < layout_.n; first += step) {
                buffer_.resize(std::size_t(std::min(step, layout_.n - first) * width_));
                layout_.dense() ? reader_.read_next(buffer_) : reader_.read_part(row, first, buffer_);
                take_(row, first, buffer_);
                shown_.advance(buffer_.size());
            }
    }

    /// Whole slabs of rows that stand side by side in the file, or part of one.
    void blocks_of_rows(std::int64_t fit) {
        const std::int64_t rows = layout_.rows(), inner = layout_.inner;
        const std::size_t row_bytes = std::size_t(layout_.n * width_);
        for (std::int64_t first = 0, count = 0; first < rows; first += count) {
            count = std::min(fit, rows - first);
            count = fit > inner ? count - count % inner : std::min(count, inner - first % inner);
            buffer_.resize(std::size_t(count) * row_bytes);
            reader_.read(first, count, buffer_);
            for (std::int64_t r = 0; r < count; ++r)
                take_(first + r, 0, std::span(buffer_).subspan(std::size_t(r) * row_bytes, row_bytes));
            shown_.advance(buffer_.size());
        }
    }

    row_reader reader_;
    const row_layout &layout_;
    const std::int64_t width_;
    progress &shown_;
    const take_part take_;
    std::vector<std::byte> buffer_;
};

class measurer {
public:
    measurer(const row_layout &layout, rownorm_type type) : type_(type) {
        stats_.rows = layout.rows();
        stats_.n = layout.n;
        stats_.sampled = (stats_.rows + most_rms - 1) / most_rms;
        if (layout.n <= most_channels)
            channels_.resize(std::size_t(layout.n));
        stats_.rms.reserve(std::size_t(std::min(stats_.rows, most_rms)));
    }

    void take(std::int64_t row, std::int64_t first, std::span<const std::byte> part) {
        for_each_chunk(part, [&](std::int64_t at, std::span<const double> values) { take_chunk(first + at, values); });
        if (first + std::int64_t(part.size() / type_bytes(type_)) != stats_.n)
            return;
        // Rows of so few channels come in one part, so that it is known by now whether the row is finite.
        if (!channels_.empty() && row_nan_ + row_infinite_ == 0)
            for_each_chunk(part, [&](std::int64_t at, std::span<const double> values) {
                for (std::size_t i = 0; i < values.size(); ++i)
                    channels_[std::size_t(at) + i] +=
                        static_cast<long double>(values[i]) * static_cast<long double>(values[i]);
            });
        end_row(row);
    }

    row_stats result() {
        auto &rms = stats_.rms;
        if (!rms.empty()) {
            const auto middle = rms.begin() + std::ptrdiff_t(rms.size() / 2);
            std::nth_element(rms.begin(), middle, rms.end());
            const double below = rms.size() % 2 == 0 ? *std::max_element(rms.begin(), middle) : *middle;
            stats_.median_rms = below + (*middle - below) / 2;
        }
        if (const auto top = std::max_element(channels_.begin(), channels_.end());
            top != channels_.end() && stats_.finite_rows > 0) {
            stats_.largest_channel = top - channels_.begin();
            stats_.largest_channel_rms = double(std::sqrt(*top / static_cast<long double>(stats_.finite_rows)));
        }
        return std::move(stats_);
    }

private:
    template <class F>
    void for_each_chunk(std::span<const std::byte> part, F f) const {
        const std::size_t width = type_bytes(type_);
        std::array<double, converted_at_once> values;
        for (std::size_t at = 0; at < part.size(); at += converted_at_once * width) {
            const std::size_t count = std::min<std::size_t>(converted_at_once, (part.size() - at) / width);
            load_values(part.subspan(at, count * width), type_, values.data());
            f(std::int64_t(at / width), std::span<const double>(values).first(count));
        }
    }

    void take_chunk(std::int64_t first, std::span<const double> values) {
        double squares = 0, largest = 0;
        bool finite = true;
        std::size_t largest_at = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double size = std::fabs(values[i]);
            squares += values[i] * values[i];
            finite = finite && size <= std::numeric_limits<double>::max();
            if (size > largest) {
                largest = size;
                largest_at = i;
            }
        }
        if (!finite)
            return count_specials(values);
        if (largest > row_largest_) {
            row_largest_ = largest;
            row_value_ = values[largest_at];
            row_channel_ = first + std::int64_t(largest_at);
        }
        // Squares of very large or small numbers leave the range of f64, but not that of a long double.
        row_squares_ += largest < 1e150 && largest > 1e-140 ? static_cast<long double>(squares) : wide_squares(values);
    }

    static long double wide_squares(std::span<const double> values) {
        long double sum = 0;
        for (const double v : values)
            sum += static_cast<long double>(v) * static_cast<long double>(v);
        return sum;
    }

    void count_specials(std::span<const double> values) {
        for (const double v : values) {
            row_nan_ += std::isnan(v);
            row_infinite_ += std::isinf(v);
        }
    }

    void end_row(std::int64_t row) {
        stats_.nan_elements += row_nan_;
        stats_.nan_rows += row_nan_ > 0;
        stats_.infinite_elements += row_infinite_;
        stats_.infinity_rows += row_infinite_ > 0;
        if (row_nan_ + row_infinite_ == 0)
            end_finite_row(row, double(std::sqrt(row_squares_ / static_cast<long double>(stats_.n))));
        row_squares_ = 0;
        row_nan_ = row_infinite_ = 0;
        row_largest_ = -1;
    }

    void end_finite_row(std::int64_t row, double rms) {
        ++stats_.finite_rows;
        if (row % stats_.sampled == 0)
            stats_.rms.push_back(rms);
        if (stats_.least_row < 0 || rms < stats_.least_rms) {
            stats_.least_rms = rms;
            stats_.least_row = row;
        }
        if (stats_.largest_row < 0 || rms > stats_.largest_rms) {
            stats_.largest_rms = rms;
            stats_.largest_row = row;
        }
        if (stats_.largest_at.row < 0 || row_largest_ > std::fabs(stats_.largest_value)) {
            stats_.largest_value = row_value_;
            stats_.largest_at = {row, row_channel_};
        }
    }

    row_stats stats_;
    const rownorm_type type_;
    std::vector<long double> channels_;
    long double row_squares_ = 0;
    std::int64_t row_nan_ = 0, row_infinite_ = 0;
    double row_largest_ = -1, row_value_ = 0;
    std::int64_t row_channel_ = 0;
};

} // namespace

row_stats measure_rows(array_input &in, const row_layout &layout, progress &shown) {
    measurer m(layout, in.info.of.type);
    const auto take = [&](std::int64_t row, std::int64_t first, std::span<const std::byte> part) {
        m.take(row, first, part);
    };
    if (in.info.elements > 0)
        walk(in, layout, shown, take).run();
    return m.result();
}

histogram histogram_of(const row_stats &stats, std::size_t bins) {
    histogram h;
    if (stats.rms.empty())
        return h;
    const auto [least, largest] = std::minmax_element(stats.rms.begin(), stats.rms.end());
    // Massive activations are orders of magnitude above the rest.
    h.logarithmic = *least > 0 && *largest / *least >= 30;
    if (*largest == *least)
        bins = 1;
    const auto scaled = [&](double v) { return h.logarithmic ? std::log(v) : v; };
    const double begin = scaled(*least), step = (scaled(*largest) - begin) / double(bins);
    h.counts.resize(bins);
    for (std::size_t i = 0; i <= bins; ++i) {
        const double edge = begin + step * double(i);
        h.edges.push_back(i == bins ? *largest : i == 0 ? *least : h.logarithmic ? std::exp(edge) : edge);
    }
    for (const double v : stats.rms) {
        const double at = step > 0 ? (scaled(v) - begin) / step : 0;
        ++h.counts[std::min(std::size_t(at), bins - 1)];
    }
    return h;
}

} // namespace command
