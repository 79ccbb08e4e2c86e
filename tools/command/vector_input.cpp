// SPDX-License-Identifier: Apache-2.0
#include "vector_input.hpp"

#include "convert.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace command {

vector_input::vector_input(array_input in, const vector_shape &shape) : in_(std::move(in)) {
    const array_info &info = in_.info;
    const bool flat = info.shape.size() == 1 && info.shape[0] == shape.n;
    if (!flat && (info.shape != shape.row || shape.row.empty()))
        fail("{}: shape {} found; expected {}, {}", in_.name(), shape_text(info.shape), shape_text({shape.n}),
             shape.reason);
    if (info.fortran && info.shape.size() > 1)
        fail("{}: Fortran order found; expected C order for a weight or bias of several axes", in_.name());
}

std::vector<std::byte> vector_input::read_all(bool as_f64) {
    std::vector<std::byte> raw(static_cast<std::size_t>(in_.info.bytes));
    require_data(in_, in_.info.bytes, std::int64_t(in_.from->read(raw)));
    finish_reading(in_);
    if (in_.info.of.big_endian)
        swap_bytes(raw, type_bytes(in_.info.of.type));
    return convert(raw, in_.info.of.type, as_f64 ? ROWNORM_F64 : ROWNORM_F32);
}

void vector_input::read_part(std::int64_t first, std::span<double> into) {
    const std::size_t width = type_bytes(in_.info.of.type);
    const std::int64_t at = first * std::int64_t(width);
    scratch_.resize(into.size() * width);
    const std::size_t got = in_.from->read_at(in_.info.data_begin + at, scratch_);
    if (got < scratch_.size())
        require_data(in_, in_.info.bytes, at + std::int64_t(got));
    if (in_.info.of.big_endian)
        swap_bytes(scratch_, width);
    for (std::size_t i = 0; i < into.size(); ++i)
        into[i] = load_value(&scratch_[i * width], in_.info.of.type);
}

} // namespace command
