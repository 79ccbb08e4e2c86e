// SPDX-License-Identifier: Apache-2.0
// `rownorm normalize`: what was asked for, and doing it.
#pragma once

#include <rownorm/rownorm.h>

#include <cstdint>
#include <optional>
#include <string>

namespace command {

struct normalize_options {
    std::string input;
    std::string output;
    rownorm_op op = ROWNORM_RMS_NORM;
    double eps = 1e-6;
    std::optional<std::string> weight; ///< file names
    std::optional<std::string> bias;
    double weight_offset = 0;
    double partial = 0;             ///< p; 0 if not given
    std::int64_t partial_count = 0; ///< k; 0 if not given
    rownorm_l2_eps l2_eps = ROWNORM_L2_EPS_MAX;
    std::optional<std::string> residual;
    std::optional<std::string> residual_out;
    bool round_before_weight = false;
    std::optional<std::string> axis;
    std::optional<rownorm_type> type; ///< of opaque bytes
    std::optional<rownorm_type> out_type;
    std::optional<std::string> isa;
    std::uint32_t threads = 0;                         ///< 0: as many as the library uses
    std::size_t memory_bytes = std::size_t(192) << 20; ///< for rows in flight, with weight and bias
    bool force = false;
    bool fsync = false;
    bool verify = false;
    bool json = false;
    bool quiet = false;
};

/// Throws failure; on return everything asked for stands in its place.
void normalize(const normalize_options &options);

} // namespace command
