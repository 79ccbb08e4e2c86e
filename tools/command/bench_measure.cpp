// SPDX-License-Identifier: Apache-2.0
#include "bench.hpp"

#include "failure.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace command {

namespace {

using clock = std::chrono::steady_clock;

constexpr bench_cell table[] = {
    {"decode", ROWNORM_RMS_NORM, ROWNORM_F32, 1, 4096},    {"decode", ROWNORM_RMS_NORM, ROWNORM_BF16, 1, 4096},
    {"heads", ROWNORM_RMS_NORM, ROWNORM_F32, 32, 128},     {"prefill", ROWNORM_RMS_NORM, ROWNORM_F32, 64, 4096},
    {"prefill", ROWNORM_RMS_NORM, ROWNORM_BF16, 64, 4096}, {"prefill", ROWNORM_LAYER_NORM, ROWNORM_F32, 64, 4096},
};

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

/// Memory at the beginning of a page, so that runs do not differ by where it happens to lie.
class buffer {
public:
    explicit buffer(std::size_t bytes)
        : bytes_(bytes), data_(static_cast<std::byte *>(::operator new(bytes, std::align_val_t(page)))) {
        std::memset(data_.get(), 0x3f, bytes_); // a number near one in f32 and bf16, and a page for each address
    }
    std::byte *data() const { return data_.get(); }
    std::size_t size() const { return bytes_; }

private:
    static constexpr std::size_t page = 4096;
    struct release {
        void operator()(std::byte *data) const { ::operator delete(data, std::align_val_t(page)); }
    };
    std::size_t bytes_;
    std::unique_ptr<std::byte, release> data_;
};

/// Seconds of one run, sample by sample: enough runs each that the clock's own time does not count.
template <class Run>
class sampler {
public:
    sampler(Run run, double sample_seconds) : run_(run) {
        for (double taken = 0; taken < sample_seconds && runs_ < most_runs; runs_ *= 2)
            taken = take() * 2; // of as many runs as come next
    }
    void sample() { seconds_.push_back(take() / double(runs_)); }

    /// Of all samples, the one that this share of them does not exceed.
    double quantile(double share) {
        const auto at = std::size_t(share * double(seconds_.size() - 1));
        std::nth_element(seconds_.begin(), seconds_.begin() + std::ptrdiff_t(at), seconds_.end());
        return seconds_[at];
    }
    double median() { return quantile(0.5); }

private:
    static constexpr std::int64_t most_runs = 1 << 24;

    double take() {
        const auto begin = clock::now();
        for (std::int64_t i = 0; i < runs_; ++i)
            run_();
        return seconds_since(begin);
    }

    Run run_;
    std::int64_t runs_ = 1;
    std::vector<double> seconds_;
};

/// The samplers take turns, so that what else runs on the machine disturbs both alike.
template <class A, class B>
void take_turns(sampler<A> &a, sampler<B> &b, double seconds) {
    constexpr int least = 5;
    const auto begin = clock::now();
    for (int i = 0; i < least || seconds_since(begin) < seconds; ++i) {
        a.sample();
        b.sample();
    }
}

double sample_seconds(double seconds) { return std::clamp(seconds / 400, 20e-6, 2e-3); }

std::size_t element_bytes(rownorm_type type) { return type == ROWNORM_F32 ? 4 : 2; }

/// A copy that the compiler can neither leave out nor take out of a loop.
void copy(const buffer &to, const buffer &from) {
    std::memcpy(to.data(), from.data(), from.size());
    asm volatile("" : : "r"(to.data()) : "memory");
}

/// Reads every word, in sums enough not to wait for one another.
void read(const buffer &from) {
    constexpr std::size_t sums = 8;
    const auto *words = reinterpret_cast<const std::uint64_t *>(from.data());
    const std::size_t count = from.size() / sizeof *words / sums * sums;
    std::uint64_t sum[sums] = {};
    for (std::size_t i = 0; i < count; i += sums)
        for (std::size_t j = 0; j < sums; ++j)
            sum[j] ^= words[i + j];
    asm volatile("" : : "r"(sum) : "memory");
}

/// The buffers of a cell, and the plan that runs on them.
class cell_job {
public:
    explicit cell_job(const bench_cell &cell)
        : x(bytes_of_rows(cell)), y(bytes_of_rows(cell)), gain_(bytes_of_row(cell)), bias_(bytes_of_row(cell)),
          plan_(nullptr, rownorm_plan_destroy) {
        rownorm_descriptor d{};
        d.struct_size = sizeof d;
        d.op = cell.op;
        d.x_type = cell.type;
        d.n = cell.n;
        d.eps = 1e-6;
        d.max_threads = 1;
        rownorm_plan *plan = nullptr;
        check(rownorm_plan_create(&plan, &d));
        plan_.reset(plan);
        io_ = rownorm_dense_io(&d, cell.rows);
        io_.x.data = x.data();
        io_.y.data = y.data();
        io_.w.data = gain_.data();
        if (cell.op == ROWNORM_LAYER_NORM)
            io_.b.data = bias_.data();
        check(rownorm_execute(plan_.get(), &io_));
    }
    void run() const { rownorm_execute(plan_.get(), &io_); }
    std::size_t bytes_moved() const { return x.size() + y.size() + gain_.size() + (io_.b.data ? bias_.size() : 0); }

    const buffer x, y;

private:
    static std::size_t bytes_of_row(const bench_cell &cell) { return std::size_t(cell.n) * element_bytes(cell.type); }
    static std::size_t bytes_of_rows(const bench_cell &cell) { return std::size_t(cell.rows) * bytes_of_row(cell); }
    static void check(rownorm_status status) {
        if (status != ROWNORM_OK)
            fail("bench: {}", rownorm_last_error());
    }

    const buffer gain_, bias_;
    std::unique_ptr<rownorm_plan, decltype(&rownorm_plan_destroy)> plan_;
    rownorm_io io_;
};

} // namespace

std::span<const bench_cell> bench_cells() { return table; }

cell_result measure_cell(const bench_cell &cell, double seconds) {
    const cell_job job(cell);
    sampler norm([&] { job.run(); }, sample_seconds(seconds));
    sampler copies([&] { copy(job.y, job.x); }, sample_seconds(seconds));
    take_turns(norm, copies, seconds);
    cell_result result;
    result.ns_per_row = 1e9 * norm.median() / double(cell.rows);
    result.rate = double(job.bytes_moved()) / norm.median();
    result.memcpy_rate = double(2 * job.x.size()) / copies.median();
    result.spread = norm.quantile(0.9) / norm.median() - 1;
    return result;
}

limits_result measure_limits(std::size_t last_level_bytes, double seconds) {
    const buffer from(std::clamp<std::size_t>(2 * last_level_bytes, 16 << 20, 64 << 20)), to(from.size());
    sampler copies([&] { copy(to, from); }, sample_seconds(seconds));
    sampler reads([&] { read(from); }, sample_seconds(seconds));
    take_turns(copies, reads, seconds);
    return {from.size(), double(2 * from.size()) / copies.median(), double(from.size()) / reads.median()};
}

} // namespace command
