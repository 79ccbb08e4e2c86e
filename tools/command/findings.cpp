// SPDX-License-Identifier: Apache-2.0
#include "findings.hpp"

#include "convert.hpp"
#include "element.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace command {

namespace {

/// The largest magnitude says whether there is a NaN, since those lie above infinity. No branches, so that
/// compilers use vectors.
template <class Bits>
void look(std::span<const std::byte> elements, Bits infinity, specials &found) {
    Bits largest = 0;
    Bits infinities = 0;
    for (std::size_t i = 0; i < elements.size(); i += sizeof(Bits)) {
        Bits bits;
        std::memcpy(&bits, &elements[i], sizeof bits);
        bits = static_cast<Bits>(bits & (static_cast<Bits>(~Bits(0)) >> 1));
        largest = std::max(largest, bits);
        infinities = static_cast<Bits>(infinities | Bits(bits == infinity));
    }
    found.nan = found.nan || largest > infinity;
    found.infinity = found.infinity || infinities != 0;
}

/// One row of a block, element by element as doubles.
struct row_view {
    const std::byte *data;
    rownorm_type type;

    double operator[](std::int64_t i) const { return load_value(data + std::size_t(i) * type_bytes(type), type); }
};

row_view row_of(const std::byte *rows, rownorm_type type, std::int64_t row, std::int64_t n) {
    return {rows + std::size_t(row * n) * type_bytes(type), type};
}

} // namespace

void findings::add(const findings &other) {
    nan_rows += other.nan_rows;
    infinity_rows += other.infinity_rows;
    verified.add(other.verified);
}

void specials::look_at(std::span<const std::byte> elements, rownorm_type type) {
    if (type == ROWNORM_F64)
        look<std::uint64_t>(elements, 0x7ff0000000000000u, *this);
    else if (type == ROWNORM_F32)
        look<std::uint32_t>(elements, 0x7f800000u, *this);
    else
        look<std::uint16_t>(elements, type == ROWNORM_F16 ? 0x7c00 : 0x7f80, *this);
}

examiner::examiner(const normalize_options &options, const job_shape &shape, const normalizer &norm)
    : options_(options), shape_(shape), norm_(norm), verifier_(options, shape), counts_(options.json),
      verifies_(options.verify) {}

findings examiner::examine(const row_block &before, const row_block &after, std::int64_t first_row) const {
    findings result;
    const std::size_t row_bytes = std::size_t(shape_.n) * type_bytes(shape_.y);
    for (std::int64_t r = 0; counts_ && r < after.rows; ++r) {
        specials found;
        found.look_at({after.y + std::size_t(r) * row_bytes, row_bytes}, shape_.y);
        result.nan_rows += found.nan;
        result.infinity_rows += found.infinity;
    }
    if (verifies_)
        verify(result.verified, before, after, first_row);
    return result;
}

void examiner::verify(verification &result, const row_block &before, const row_block &after,
                      std::int64_t first_row) const {
    const std::int64_t n = shape_.n;
    const bool added = before.residual != nullptr;
    const rownorm_type vector_type = shape_.x == ROWNORM_F64 ? ROWNORM_F64 : ROWNORM_F32;
    const row_view weight{norm_.weight(), vector_type}, bias{norm_.bias(), vector_type};
    exact_norm exact(options_, shape_);
    for (std::int64_t r = 0; r < after.rows; ++r) {
        const row_view x = row_of(before.x, shape_.x, r, n), y = row_of(after.y, shape_.y, r, n);
        // With a residual it is the written sum that was normalised.
        const row_view s = added ? row_of(after.residual, shape_.residual, r, n) : x;
        exact.measure([&](std::int64_t count, const take_chunk &take) {
            std::array<double, chunk_elements> values;
            for (std::int64_t first = 0; first < count; first += chunk_elements) {
                const std::int64_t some = std::min(chunk_elements, count - first);
                for (std::int64_t i = 0; i < some; ++i)
                    values[std::size_t(i)] = s[first + i];
                take(std::span<const double>(values).first(std::size_t(some)));
            }
        });
        for (std::int64_t j = 0; j < n; ++j) {
            const double w = weight.data != nullptr ? weight[j] : 0, b = bias.data != nullptr ? bias[j] : 0;
            verifier_.check(result, exact, first_row + r, j, s[j], weight.data != nullptr ? &w : nullptr,
                            bias.data != nullptr ? &b : nullptr, y[j]);
            if (added)
                verifier_.check_sum(result, first_row + r, j, x[j], row_of(before.residual, shape_.residual, r, n)[j],
                                    s[j]);
        }
    }
}

} // namespace command
