// SPDX-License-Identifier: Apache-2.0
// What is looked at in the results while they pass by.
#pragma once

#include "verify.hpp"

namespace command {

struct findings {
    std::int64_t nan_rows = 0;      ///< rows of the output that hold a NaN
    std::int64_t infinity_rows = 0; ///< rows that hold an infinity
    verification verified;

    void add(const findings &other);
};

/// Whether elements hold a NaN, or an infinity.
struct specials {
    bool nan = false;
    bool infinity = false;

    void look_at(std::span<const std::byte> elements, rownorm_type type);
};

/// Counts rows with NaN and infinity for --json, and checks results for --verify.
class examiner {
public:
    examiner(const normalize_options &options, const job_shape &shape, const normalizer &norm);

    /// Whether examine() needs the inputs as they were before.
    bool verifies() const { return verifies_; }
    /// Adds what a block shows. May be called from several threads at once.
    findings examine(const row_block &before, const row_block &after, std::int64_t first_row) const;
    const verifier &judge() const { return verifier_; }
    bool counts() const { return counts_; }

private:
    void verify(verification &result, const row_block &before, const row_block &after, std::int64_t first_row) const;

    const normalize_options &options_;
    const job_shape shape_;
    const normalizer &norm_;
    const verifier verifier_;
    const bool counts_, verifies_;
};

} // namespace command
