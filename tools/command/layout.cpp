// SPDX-License-Identifier: Apache-2.0
#include "layout.hpp"

#include "failure.hpp"
#include "text.hpp"

#include <algorithm>
#include <charconv>

namespace command {

namespace {

std::int64_t product(std::span<const std::int64_t> extents, const std::string &name) {
    if (std::find(extents.begin(), extents.end(), 0) != extents.end())
        return 0;
    std::int64_t result = 1;
    for (const std::int64_t extent : extents)
        if (__builtin_mul_overflow(result, extent, &result))
            fail("{}: rows of more elements than fit 63 bits found", name);
    return result;
}

/// Extents other than 1 are what can be ordered at all.
std::ptrdiff_t real_axes(std::span<const std::int64_t> extents) {
    return std::count_if(extents.begin(), extents.end(), [](std::int64_t extent) { return extent != 1; });
}

} // namespace

axis_range parse_axes(const std::string &text, std::size_t axes, const std::string &name) {
    std::string_view number = text;
    const bool to_the_end = number.ends_with("..");
    if (to_the_end)
        number.remove_suffix(2);
    std::int64_t axis = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), axis);
    if (error != std::errc() || end != number.data() + number.size() || number.empty())
        fail_usage("--axis: {} found; expected an integer such as 0 or -1, or 1.. for all from 1 on", in_quotes(text));
    if (axes == 0)
        return {0, 0};
    const auto count = std::int64_t(axes);
    if (axis < -count || axis >= count)
        fail_usage("--axis: {} found; {} has {} ax{}s, 0 to {}", in_quotes(text), name, axes, axes == 1 ? "i" : "e",
                   axes - 1);
    const auto first = std::size_t(axis < 0 ? axis + count : axis);
    return {first, to_the_end ? axes : first + 1};
}

std::int64_t row_layout::column(std::int64_t j) const {
    if (reversed.empty())
        return j;
    // j counts the last axis fastest, the file the first one.
    std::int64_t column = 0;
    std::int64_t step = n;
    for (std::size_t axis = reversed.size(); axis-- > 0;) {
        step /= reversed[axis];
        column += j % reversed[axis] * step;
        j /= reversed[axis];
    }
    return column;
}

row_layout rows_of(const array_info &info, axis_range axes, const std::string &name) {
    const std::span<const std::int64_t> shape(info.shape);
    const auto before = shape.first(axes.first), row = shape.subspan(axes.first, axes.last - axes.first),
               after = shape.subspan(axes.last);
    row_layout layout{.outer = 0, .n = product(row, name), .inner = 1, .reversed = {}};
    if (info.elements == 0)
        return layout;
    layout.outer = product(info.fortran ? after : before, name);
    layout.inner = product(info.fortran ? before : after, name);
    if (info.fortran && real_axes(row) > 1)
        layout.reversed.assign(row.begin(), row.end());
    if (layout.n == 1 && layout.reversed.empty()) // one column: all orders are the same
        layout.outer = layout.rows(), layout.inner = 1;
    return layout;
}

std::vector<std::int64_t> index_of(const array_info &info, axis_range axes, const row_layout &layout, std::int64_t r,
                                   std::int64_t j) {
    std::vector<std::int64_t> index(info.shape.size());
    // Takes the axis apart that changes fastest, then the next one.
    const auto split = [&](std::int64_t &number, std::size_t axis) {
        index[axis] = number % info.shape[axis];
        number /= info.shape[axis];
    };
    for (std::size_t axis = axes.last; axis-- > axes.first;)
        split(j, axis);
    std::int64_t before = info.fortran ? r % layout.inner : r / layout.inner;
    std::int64_t after = info.fortran ? r / layout.inner : r % layout.inner;
    if (layout.n == 1 && layout.reversed.empty()) { // all rows in one run, see rows_of()
        const std::span<const std::int64_t> shape(info.shape);
        std::int64_t fast = 1;
        for (const std::int64_t extent : info.fortran ? shape.first(axes.first) : shape.subspan(axes.last))
            fast *= extent;
        before = info.fortran ? r % fast : r / fast;
        after = info.fortran ? r / fast : r % fast;
    }
    for (std::size_t i = 0; i < axes.first; ++i)
        split(before, info.fortran ? i : axes.first - 1 - i);
    for (std::size_t i = axes.last; i < index.size(); ++i)
        split(after, info.fortran ? i : index.size() - 1 - (i - axes.last));
    return index;
}

bool same_row_numbers(const array_info &a, const array_info &b, axis_range axes) {
    const std::span<const std::int64_t> shape(a.shape);
    return a.fortran == b.fortran || real_axes(shape.first(axes.first)) + real_axes(shape.subspan(axes.last)) <= 1;
}

} // namespace command
