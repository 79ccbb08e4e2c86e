// SPDX-License-Identifier: Apache-2.0
#include "job_inputs.hpp"

#include "failure.hpp"
#include "text.hpp"

namespace command {

namespace {

bool is_f64(const array_input &in) { return in.info.of.type == ROWNORM_F64; }

rownorm_type output_type(const normalize_options &options, const array_input &x) {
    const rownorm_type type = options.out_type.value_or(x.info.of.type);
    if ((type == ROWNORM_F64) != is_f64(x))
        fail_usage("{}: type {} found; --out-type {} is not possible, f64 goes with f64 only", x.name(),
                   type_name(x.info.of.type), type_name(type));
    return type;
}

/// In C and in Fortran order, rows are numbered differently. What has one index of the first axis is in one
/// place in both.
void take_units(job_inputs &in) {
    const std::size_t axes = in.x.info.shape.size();
    const array_input &r = *in.residual;
    if (in.axes.first == 0 || in.axes.last != axes)
        fail("{}: {} order found; expected that of {}, which is in {} order, for rows that do not end with the last "
             "axis",
             r.name(), r.info.fortran ? "Fortran" : "C", in.x.name(), in.x.info.fortran ? "Fortran" : "C");
    const std::int64_t n = in.x_rows.n;
    in.x_rows = rows_of(in.x.info, {1, axes}, in.x.name());
    in.residual_rows = rows_of(r.info, {1, axes}, r.name());
    in.shape.rows_per_unit = in.x_rows.n / n;
}

void open_residual(const normalize_options &options, job_inputs &in) {
    in.residual = open_array(*options.residual, options.type);
    const array_input &r = *in.residual;
    in.shape.residual = r.info.of.type;
    if (r.info.shape != in.x.info.shape)
        fail("{}: shape {} found; expected {}, that of {}", r.name(), shape_text(r.info.shape),
             shape_text(in.x.info.shape), in.x.name());
    if (is_f64(r) != is_f64(in.x))
        fail("{}: type {} found; {} is {}, and f64 goes with f64 only", r.name(), type_name(r.info.of.type),
             in.x.name(), type_name(in.x.info.of.type));
    in.residual_rows = rows_of(r.info, in.axes, r.name());
    if (in.x.info.elements > 0 && !same_row_numbers(in.x.info, r.info, in.axes))
        take_units(in);
}

vector_shape expected_vector(const normalize_options &options, const job_inputs &in) {
    const auto &shape = in.x.info.shape;
    const std::span<const std::int64_t> row(shape.begin() + std::ptrdiff_t(in.axes.first),
                                            shape.begin() + std::ptrdiff_t(in.axes.last));
    const std::string which = options.axis ? fmt::format("axis {}", *options.axis) : "the last axis";
    return {{row.begin(), row.end()}, in.shape.n, fmt::format("the length of {} of {}", which, in.x.name())};
}

/// --type for files that all say their type themselves is a misunderstanding, unless it says the same.
void require_use_of_type(const normalize_options &options, const job_inputs &in) {
    const array_input &x = in.x;
    const bool opaque = x.info.of.opaque || (in.residual && in.residual->info.of.opaque) ||
                        (in.weight && in.weight->array().info.of.opaque) ||
                        (in.bias && in.bias->array().info.of.opaque);
    if (options.type && !opaque && *options.type != x.info.of.type)
        fail_usage("{}: type {} found; --type {} is for opaque bytes (--out-type chooses the output's type)", x.name(),
                   in_quotes(x.info.of.descr), type_name(*options.type));
}

} // namespace

std::size_t job_inputs::vector_bytes() const {
    const std::size_t width = shape.x == ROWNORM_F64 ? 8 : 4;
    return (std::size_t(weight.has_value()) + std::size_t(bias.has_value())) * std::size_t(shape.n) * width;
}

job_inputs open_inputs(const normalize_options &options) {
    job_inputs in{open_array(options.input, options.type), {}, {}, {}, {}, {}, {}, {}};
    in.axes = parse_axes(options.axis.value_or("-1"), in.x.info.shape.size(), in.x.name());
    in.x_rows = rows_of(in.x.info, in.axes, in.x.name());
    in.shape.rows = in.x_rows.rows();
    in.shape.n = in.x_rows.n;
    in.shape.x = in.x.info.of.type;
    if (options.residual)
        open_residual(options, in);
    const vector_shape expected = expected_vector(options, in);
    if (options.weight)
        in.weight.emplace(open_array(*options.weight, options.type), expected);
    if (options.bias)
        in.bias.emplace(open_array(*options.bias, options.type), expected);
    require_use_of_type(options, in);
    in.shape.y = output_type(options, in.x);
    return in;
}

} // namespace command
