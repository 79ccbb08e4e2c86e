// SPDX-License-Identifier: Apache-2.0
//
// A plan and a pool of rows whose results are known from a serial run: any batch of them, however it is laid out
// and run, must give each row the same bits.
#pragma once

#include "../case.hpp"
#include "../random.hpp"
#include "../run.hpp"

#include <array>
#include <memory>

namespace soak {

class Batches;

/// A thread's own memory, as large as any of its calls needs, so that calls allocate nothing here.
struct Buffers {
    explicit Buffers(const std::array<Batches, 3> &plans);
    std::vector<std::byte> y, sum;
};

class Batches {
public:
    static constexpr std::int64_t pool_rows = 600;

    explicit Batches(int which);

    /// Bytes of y, and of the sum, that a call may need.
    std::size_t most_bytes() const;
    /// One call on a random batch; what is wrong with it, or nothing.
    std::string run_one(rownorm_test::Random &random, Buffers &buffers) const;

private:
    struct Layout;
    rownorm_io io_of(const Layout &layout, Buffers &buffers) const;
    std::string compare(const Layout &layout, const Buffers &buffers) const;

    rownorm_test::Case case_;
    rownorm_test::Inputs in_;
    std::vector<std::uint64_t> y_hash_, sum_hash_; ///< of each row of the pool
    std::unique_ptr<rownorm_test::Plan> plan_;
};

} // namespace soak
