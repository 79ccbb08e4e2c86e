// SPDX-License-Identifier: Apache-2.0
#include "long_rows.hpp"

#include "convert.hpp"
#include "element.hpp"
#include "long_norm.hpp"

#include <algorithm>

namespace command {

namespace {

/// Elements that are read at once: whole chunks. Buffers of all kinds take up to 48 bytes for each.
std::int64_t part_of(std::size_t memory_bytes) {
    return std::clamp<std::int64_t>(std::int64_t(memory_bytes / 48), chunk_elements, 256 * chunk_elements) /
           chunk_elements * chunk_elements;
}

class long_job {
public:
    long_job(const normalize_options &options, const job_shape &shape, const long_ends &ends, const examiner &examine,
             progress &shown)
        : shape_(shape), ends_(ends), part_(part_of(options.memory_bytes)), norm_(options, shape),
          exact_(options, shape), examine_(examine), shown_(shown) {}

    void run(std::int64_t row) {
        const pass_over_row passes = [&](std::int64_t count, const take_chunk &take) { pass(row, count, take); };
        norm_.measure(passes);
        if (examine_.verifies())
            exact_.measure(passes);
        specials found;
        for_parts(shape_.n, [&](std::int64_t first, std::int64_t count) { write(row, first, count, found); });
        found_.nan_rows += found.nan;
        found_.infinity_rows += found.infinity;
    }

    const findings &found() const { return found_; }

private:
    template <class F>
    void for_parts(std::int64_t elements, F f) const {
        for (std::int64_t first = 0; first < elements; first += part_)
            f(first, std::min(part_, elements - first));
    }

    void pass(std::int64_t row, std::int64_t elements, const take_chunk &take) {
        for_parts(elements, [&](std::int64_t first, std::int64_t count) {
            load(row, first, count);
            for (std::int64_t i = 0; i < count; i += chunk_elements)
                take(std::span(values_).subspan(std::size_t(i), std::size_t(std::min(chunk_elements, count - i))));
        });
    }

    /// Puts what is normalised into values_, and x + residual, rounded, into residual_.
    void load(std::int64_t row, std::int64_t first, std::int64_t count) {
        const std::size_t elements = std::size_t(count), width = type_bytes(shape_.x);
        x_.resize(elements * width);
        ends_.x->read_part(row, first, x_);
        values_.resize(elements);
        for (std::size_t i = 0; i < elements; ++i)
            values_[i] = load_value(&x_[i * width], shape_.x);
        if (ends_.residual != nullptr)
            add_residual(row, first, elements);
    }

    void add_residual(std::int64_t row, std::int64_t first, std::size_t elements) {
        const std::size_t width = type_bytes(shape_.residual);
        residual_.resize(elements * width);
        ends_.residual->read_part(row, first, residual_);
        for (std::size_t i = 0; i < elements; ++i) {
            std::byte *const element = &residual_[i * width];
            const double r = load_value(element, shape_.residual);
            const double sum = shape_.x == ROWNORM_F64 ? values_[i] + r : double(float(values_[i]) + float(r));
            store_value(element, shape_.residual, sum);
            values_[i] = load_value(element, shape_.residual);
        }
    }

    const double *vector_part(vector_input *from, std::int64_t first, std::vector<double> &into, std::size_t count) {
        if (from == nullptr)
            return nullptr;
        into.resize(count);
        from->read_part(first, into);
        return into.data();
    }

    void write(std::int64_t row, std::int64_t first, std::int64_t count, specials &found) {
        load(row, first, count);
        const std::size_t elements = std::size_t(count), width = type_bytes(shape_.y);
        const double *const w = vector_part(ends_.weight, first, weight_, elements);
        const double *const b = vector_part(ends_.bias, first, bias_, elements);
        y_.resize(elements * width);
        for (std::size_t i = 0; i < elements; ++i) {
            const double *const wi = w != nullptr ? w + i : nullptr, *const bi = b != nullptr ? b + i : nullptr;
            std::byte *const y = &y_[i * width];
            store_value(y, shape_.y, norm_.apply(values_[i], wi, bi));
            if (examine_.verifies())
                examine_.judge().check(found_.verified, exact_, row, first + std::int64_t(i), values_[i], wi, bi,
                                       load_value(y, shape_.y));
        }
        if (examine_.counts())
            found.look_at(y_, shape_.y);
        ends_.y->write_part(row, first, y_);
        if (ends_.residual_out != nullptr)
            ends_.residual_out->write_part(row, first, residual_);
        shown_.advance(elements * width);
    }

    const job_shape shape_;
    const long_ends ends_;
    const std::int64_t part_;
    long_norm norm_;
    exact_norm exact_;
    const examiner &examine_;
    progress &shown_;
    findings found_;
    std::vector<std::byte> x_, residual_, y_;
    std::vector<double> values_, weight_, bias_;
};

} // namespace

findings normalize_long_rows(const normalize_options &options, const job_shape &shape, const long_ends &ends,
                             const examiner &examine, progress &shown) {
    long_job job(options, shape, ends, examine, shown);
    for (std::int64_t row = 0; row < shape.rows; ++row)
        job.run(row);
    return job.found();
}

} // namespace command
