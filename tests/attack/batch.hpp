// SPDX-License-Identifier: Apache-2.0
//
// A batch with a known result: rows of equal magnitude, whose norm is a row of 1 and -1.
#pragma once

#include <rownorm/rownorm.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace attack {

class Batch {
public:
    Batch(std::int64_t rows, std::int64_t n, rownorm_op op = ROWNORM_RMS_NORM, const char *isa = nullptr,
          float magnitude = 3)
        : x_(static_cast<std::size_t>(rows * n)), y_(x_.size()), even_(n % 2 == 0), op_(op) {
        for (std::size_t i = 0; i < x_.size(); ++i)
            x_[i] = static_cast<std::int64_t>(i) % n % 2 == 0 ? magnitude : -magnitude;
        d_.struct_size = sizeof d_;
        d_.op = op;
        d_.x_type = ROWNORM_F32;
        d_.n = n;
        d_.isa = isa;
        io_ = rownorm_dense_io(&d_, rows);
        io_.x.data = x_.data();
        io_.y.data = y_.data();
        if (rownorm_plan_create(&plan_, &d_) != ROWNORM_OK)
            std::abort();
    }
    ~Batch() { rownorm_plan_destroy(plan_); }
    Batch(const Batch &) = delete;
    Batch &operator=(const Batch &) = delete;

    /// On the library's threads.
    bool run() {
        clear();
        return rownorm_execute(plan_, &io_) == ROWNORM_OK && is_right();
    }
    /// On this thread, in three parts.
    bool run_part() {
        clear();
        for (std::int64_t part = 3; part-- > 0;)
            if (rownorm_execute_part(plan_, &io_, part, 3) != ROWNORM_OK)
                return false;
        return is_right();
    }
    /// A call with a fault, which is put into words.
    bool is_refused() const {
        rownorm_io bad = io_;
        bad.y.data = reinterpret_cast<char *>(bad.y.data) + 1;
        return rownorm_execute(plan_, &bad) == ROWNORM_INVALID_ARGUMENT && *rownorm_last_error() != '\0';
    }

private:
    void clear() {
        for (float &v : y_)
            v = 7;
    }
    /// L2Norm and odd rows of LayerNorm only as far as signs and equality go.
    bool is_right() const {
        const bool unit = op_ == ROWNORM_RMS_NORM || (op_ == ROWNORM_LAYER_NORM && even_);
        const auto n = static_cast<std::size_t>(d_.n);
        for (std::size_t i = 0; i < y_.size(); ++i) {
            const float expected = unit ? (i % n % 2 == 0 ? 1.0F : -1.0F) : y_[i % n];
            if (y_[i] != expected || y_[i] == 7 || (y_[i] > 0) != (i % n % 2 == 0))
                return false;
        }
        return true;
    }

    std::vector<float> x_, y_;
    bool even_;
    rownorm_op op_;
    rownorm_descriptor d_ = {};
    rownorm_io io_ = {};
    rownorm_plan *plan_ = nullptr;
};

} // namespace attack
