// SPDX-License-Identifier: Apache-2.0
//
// Runs each hot cell in a function of its own, of which callgrind counts the instructions, and prints the cells'
// names and elements in that order. The ISA is chosen by ROWNORM_MAX_ISA.
#include "cells.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace {

using counts::Cell;

struct DestroyPlan {
    void operator()(rownorm_plan *plan) const { rownorm_plan_destroy(plan); }
};

[[noreturn]] void give_up(const std::string &cell) {
    std::fprintf(stderr, "%s: %s\n", cell.c_str(), rownorm_last_error());
    std::exit(1);
}

rownorm_descriptor descriptor_of(const Cell &cell) {
    rownorm_descriptor d = {};
    d.struct_size = sizeof d;
    d.op = cell.op;
    d.x_type = cell.type;
    d.n = cell.n;
    d.eps = 1e-6;
    d.max_threads = 1;
    return d;
}

/// Rows whose numbers are near one in every type, so that no row is recomputed.
class Rows {
public:
    Rows(const Cell &cell, std::int64_t rows)
        : element_(cell.type == ROWNORM_F32 ? 4 : 2), elements_(std::size_t(rows * cell.n)),
          bytes_(elements_ * element_ + line, std::align_val_t(line)) {
        const std::uint32_t one[] = {0x3f800000, 0x3c00, 0x3f80}; // f32, f16, bf16
        for (std::size_t i = 0; i < elements_; i++)
            set(i, one[cell.type - ROWNORM_F32] + std::uint32_t(i * 7 % 13) * (element_ == 4 ? 0x1000 : 1));
    }
    /// A few elements after the beginning of a line: a y that cannot be stored around the caches, which would depend
    /// on the size of the last one.
    void *off_line() { return bytes_.data + 16; }
    void *data() { return bytes_.data; }

private:
    static constexpr std::size_t line = 64;
    struct Memory {
        Memory(std::size_t size, std::align_val_t align)
            : alignment(align), data(static_cast<unsigned char *>(::operator new(size, align))) {}
        ~Memory() { ::operator delete(data, alignment); }
        Memory(const Memory &) = delete;
        Memory &operator=(const Memory &) = delete;
        std::align_val_t alignment;
        unsigned char *data;
    };

    void set(std::size_t i, std::uint32_t bits) {
        if (element_ == 4)
            reinterpret_cast<std::uint32_t *>(bytes_.data)[i] = bits;
        else
            reinterpret_cast<std::uint16_t *>(bytes_.data)[i] = std::uint16_t(bits);
    }

    std::size_t element_, elements_;
    Memory bytes_;
};

/// A cell with its memory and its plan, ready to run.
class Job {
public:
    explicit Job(const Cell &cell)
        : cell_(cell), x_(cell, cell.rows), y_(cell, cell.rows), residual_(cell, cell.rows), w_(cell, 1), b_(cell, 1) {
        const rownorm_descriptor descriptor = descriptor_of(cell);
        rownorm_plan *plan = nullptr;
        if (rownorm_plan_create(&plan, &descriptor) != ROWNORM_OK)
            give_up(counts::name_of(cell));
        plan_.reset(plan);
        io_ = rownorm_dense_io(&descriptor, cell.rows);
        point();
    }

    rownorm_status run() {
        if (cell_.one_line)
            return rownorm_rms_norm_f32(static_cast<float *>(y_.off_line()), static_cast<const float *>(x_.data()),
                                        static_cast<const float *>(w_.data()), cell_.rows, cell_.n, 1e-6f);
        return rownorm_execute(plan_.get(), &io_);
    }

private:
    void point() {
        io_.x.data = x_.data();
        io_.y.data = y_.off_line();
        io_.w.data = w_.data();
        if (cell_.op == ROWNORM_LAYER_NORM)
            io_.b.data = b_.data();
        if (cell_.residual)
            io_.residual.data = io_.residual_out.data = residual_.data();
    }

    const Cell &cell_;
    Rows x_, y_, residual_, w_, b_;
    std::unique_ptr<rownorm_plan, DestroyPlan> plan_;
    rownorm_io io_;
};

} // namespace

/// What is counted: callgrind finds it by this name, and each call of it is one part of callgrind's output.
extern "C" [[gnu::noinline, gnu::used]] rownorm_status rownorm_counted(void *job) {
    return static_cast<Job *>(job)->run();
}

int main() {
    std::printf("isa %s\n", rownorm_isa() ? rownorm_isa() : "unknown");
    for (const Cell &cell : counts::cells()) {
        Job job(cell);
        if (job.run() != ROWNORM_OK) // what happens only once happens here
            give_up(counts::name_of(cell));
        rownorm_counted(&job);
        std::printf("%s %lld\n", counts::name_of(cell).c_str(), static_cast<long long>(cell.rows * cell.n));
    }
}
