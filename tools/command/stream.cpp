// SPDX-License-Identifier: Apache-2.0
#include "stream.hpp"

#include "element.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <optional>

namespace command {

namespace {

/// Small enough for the blocks of a few threads to stay in the caches, large enough that the system calls and handing
/// a block from thread to thread cost little: with 128 KiB a third of the time went into these.
constexpr std::size_t dense_block_bytes = std::size_t(512) << 10;

struct block {
    std::int64_t first = 0;
    std::int64_t rows = 0;
    std::unique_ptr<std::byte[]> x, residual, y;
    std::unique_ptr<std::byte[]> x_before, residual_before; ///< for --verify
    findings found;
};

/// Blocks in memory, each used for one part of the file after the other.
class block_ring {
public:
    block_ring(const block_plan &plan, const job_shape &shape, bool has_residual, bool verifies)
        : plan_(plan), shape_(shape), has_residual_(has_residual), ring_(plan.blocks_in_memory) {
        for (block &b : ring_) {
            b.x = buffer(shape.x);
            if (has_residual)
                b.residual = buffer(shape.residual);
            if (type_bytes(shape.x) != type_bytes(shape.y))
                b.y = buffer(shape.y);
            if (verifies)
                b.x_before = buffer(shape.x);
            if (verifies && has_residual)
                b.residual_before = buffer(shape.residual);
        }
    }

    /// The next part, or null after the last. At most blocks_in_memory are in use at once, in order.
    block *next() {
        if (next_row_ == plan_.rows)
            return nullptr;
        block &b = ring_[given_++ % ring_.size()];
        b.first = next_row_;
        const std::int64_t slab_end = (b.first / plan_.rows_per_slab + 1) * plan_.rows_per_slab;
        const std::int64_t end = plan_.rows_per_block < plan_.rows_per_slab ? slab_end : plan_.rows;
        b.rows = std::min(plan_.rows_per_block, end - b.first);
        next_row_ += b.rows;
        return &b;
    }

    row_block view(const block &b) const {
        return {b.rows * shape_.rows_per_unit, b.x.get(), has_residual_ ? b.residual.get() : nullptr,
                b.y ? b.y.get() : b.x.get()};
    }

    std::span<std::byte> bytes(const block &b, std::byte *of, rownorm_type type) const {
        return {of, row_bytes(type) * std::size_t(b.rows)};
    }

private:
    std::size_t row_bytes(rownorm_type type) const {
        return std::size_t(shape_.elements_per_unit()) * type_bytes(type);
    }
    std::unique_ptr<std::byte[]> buffer(rownorm_type type) const {
        return std::make_unique_for_overwrite<std::byte[]>(row_bytes(type) * std::size_t(plan_.rows_per_block));
    }

    const block_plan plan_;
    const job_shape shape_;
    const bool has_residual_;
    std::vector<block> ring_;
    std::size_t given_ = 0;
    std::int64_t next_row_ = 0;
};

class stages {
public:
    stages(const block_plan &plan, const job_shape &shape, const row_ends &ends, const stream_work &work)
        : ring_(plan, shape, ends.residual != nullptr, work.examine.verifies()), shape_(shape), ends_(ends),
          work_(work) {}

    block *read() {
        block *b = ring_.next();
        if (b == nullptr)
            return nullptr;
        const row_block v = ring_.view(*b);
        ends_.x->read(b->first, b->rows, ring_.bytes(*b, v.x, shape_.x));
        if (ends_.residual != nullptr)
            ends_.residual->read(b->first, b->rows, ring_.bytes(*b, v.residual, shape_.residual));
        return b;
    }

    block *compute(block *b) const {
        const row_block after = ring_.view(*b);
        row_block before = after;
        if (work_.examine.verifies())
            before = keep_inputs(*b, after);
        work_.norm.run(after);
        b->found = work_.examine.examine(before, after, b->first * shape_.rows_per_unit);
        return b;
    }

    void write(block *b) {
        const row_block v = ring_.view(*b);
        const auto y = ring_.bytes(*b, v.y, shape_.y);
        ends_.y->write(b->first, b->rows, y);
        if (ends_.residual_out != nullptr)
            ends_.residual_out->write(b->first, b->rows, ring_.bytes(*b, v.residual, shape_.residual));
        found_.add(b->found);
        work_.shown.advance(y.size());
    }

    const findings &found() const { return found_; }

private:
    row_block keep_inputs(const block &b, const row_block &v) const {
        std::ranges::copy(ring_.bytes(b, v.x, shape_.x), b.x_before.get());
        if (v.residual != nullptr)
            std::ranges::copy(ring_.bytes(b, v.residual, shape_.residual), b.residual_before.get());
        return {v.rows, b.x_before.get(), b.residual_before.get(), nullptr};
    }

    block_ring ring_;
    const job_shape shape_;
    const row_ends ends_;
    const stream_work &work_;
    findings found_;
};

void run_pipeline(stages &s, std::size_t tokens) {
    using tbb::filter_mode;
    const auto read = tbb::make_filter<void, block *>(filter_mode::serial_in_order, [&](tbb::flow_control &flow) {
        block *b = s.read();
        if (b == nullptr)
            flow.stop();
        return b;
    });
    const auto compute =
        tbb::make_filter<block *, block *>(filter_mode::parallel, [&](block *b) { return s.compute(b); });
    const auto write = tbb::make_filter<block *, void>(filter_mode::serial_in_order, [&](block *b) { s.write(b); });
    tbb::parallel_pipeline(tokens, read & compute & write);
}

} // namespace

block_plan plan_blocks(const job_shape &shape, bool has_residual, bool verifies, std::int64_t rows_per_slab,
                       std::size_t memory_bytes, std::uint32_t threads) {
    const std::size_t n = std::size_t(shape.elements_per_unit()), wx = type_bytes(shape.x), wy = type_bytes(shape.y);
    const std::size_t wr = has_residual ? type_bytes(shape.residual) : 0;
    const std::size_t row_bytes = n * ((wx + wr) * (verifies ? 2 : 1) + (wx == wy ? 0 : wy));
    if (row_bytes > memory_bytes)
        return {.rows = shape.units(), .rows_per_slab = rows_per_slab, .long_rows = true};
    const bool dense = rows_per_slab == 1;
    const std::size_t wanted = threads == 1 ? 1 : dense ? 2 * std::size_t(threads) + 2 : 2;
    // Tiles of a strided layout are the better the wider they are; each file has one more for scratch.
    const std::size_t in_flight = wanted * row_bytes + n * (wx + 2 * wr + wy);
    std::int64_t fit = std::int64_t(dense ? dense_block_bytes / (n * std::max(wx, wy)) : memory_bytes / in_flight);
    fit = std::clamp<std::int64_t>(fit, 1, shape.units());
    fit = fit > rows_per_slab ? fit - fit % rows_per_slab : fit;
    block_plan plan{.rows = shape.units(), .rows_per_slab = rows_per_slab, .rows_per_block = fit};
    const auto parts = [&](std::int64_t rows) { return (rows + fit - 1) / fit; };
    plan.blocks = fit < rows_per_slab ? shape.units() / rows_per_slab * parts(rows_per_slab) : parts(shape.units());
    const std::size_t in_memory = std::clamp<std::size_t>(memory_bytes / (row_bytes * std::size_t(fit)), 1, wanted);
    plan.blocks_in_memory = std::min(in_memory, std::size_t(plan.blocks));
    return plan;
}

findings stream_rows(const block_plan &plan, const job_shape &shape, const row_ends &ends, const stream_work &work) {
    stages s(plan, shape, ends, work);
    if (plan.blocks <= 1 || plan.blocks_in_memory == 1 || work.threads == 1) {
        while (block *b = s.read())
            s.write(s.compute(b));
        return s.found();
    }
    // More threads than cores, if asked for, are had only by lifting oneTBB's own limit.
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, work.threads);
    tbb::task_arena(int(work.threads)).execute([&] { run_pipeline(s, plan.blocks_in_memory); });
    return s.found();
}

} // namespace command
