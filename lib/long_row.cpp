// SPDX-License-Identifier: Apache-2.0
#include "long_row.hpp"

#include "finish.hpp"
#include "float_state.hpp"
#include "parallel.hpp"
#include "rows.hpp"
#include "strategy.hpp"

#include <algorithm>

namespace rownorm {
namespace {

// Chunks whose sums are kept at a time: few enough for a small stack, enough to keep threads busy for long.
constexpr int64_t kRound = 1024;

constexpr int64_t chunks_of(int64_t n) { return (n + kChunk - 1) / kChunk; }

class LongRow {
public:
    LongRow(const Plan &plan, const Cursor &c, size_t threads)
        : plan_(plan), c_(c), threads_(threads), sum_(c.residual_out.data ? c.residual_out : c.to.y),
          s_(c.adds() ? as_input(sum_) : c.x) {}

    void run() {
        Tile t;
        t.clear(1);
        t.sums[0] = sum_in_rounds(c_.adds() ? &LongRow::add : &LongRow::sum, c_.adds() ? plan_.n : plan_.k).first;
        if (plan_.op == ROWNORM_LAYER_NORM) {
            estimate_means(plan_, 1, t);
            centre_ = t.centre[0];
            const auto [linear, square] = sum_in_rounds(&LongRow::centred, plan_.n);
            t.sums[0] = linear;
            t.squares[0] = square;
            t.all_fit = close_centred(plan_, 1, t);
        } else {
            t.all_fit = close_squares(plan_, 1, t);
        }
        if (!t.all_fit)
            return finish_one_by_one(plan_, c_, s_, 1, t);
        scale_ = &t.scale[0];
        in_pieces(&LongRow::apply, 0, chunks_of(plan_.n));
        put_statistics(plan_, c_, 0, mean_of(plan_, t, 0), t.scale[0].rstd);
    }

private:
    // A pass over chunks [first, end).
    using Pass = void (LongRow::*)(int64_t first, int64_t end);
    struct Sums {
        double first, second;
    };
    struct Pieces {
        LongRow *row;
        Pass pass;
        int64_t begin, chunks, tasks;

        static void run(const void *context, size_t task) {
            const DefaultFloatState state;
            const auto &p = *static_cast<const Pieces *>(context);
            const auto t = int64_t(task);
            (p.row->*p.pass)(p.begin + first_row(p.chunks, t, p.tasks), p.begin + first_row(p.chunks, t + 1, p.tasks));
        }
    };

    void in_pieces(Pass pass, int64_t begin, int64_t chunks) {
        const int64_t tasks = std::min({chunks, int64_t(threads_) * kTasksPerThread, int64_t(kMaxTasks)});
        const Pieces pieces{this, pass, begin, chunks, tasks};
        Tasks all(size_t(tasks), Pieces::run, &pieces);
        run_on_tbb(all, std::min(threads_, size_t(tasks)));
    }

    // The sums that a pass leaves in sums_ and squares_, added chunk by chunk as one thread would.
    Sums sum_in_rounds(Pass pass, int64_t n) {
        Sums total{0, 0};
        for (round_ = 0; round_ < chunks_of(n); round_ += kRound) {
            const int64_t chunks = std::min(kRound, chunks_of(n) - round_);
            std::fill_n(sums_, chunks, 0.0);
            std::fill_n(squares_, chunks, 0.0);
            in_pieces(pass, round_, chunks);
            for (int64_t i = 0; i < chunks; i++) {
                total.first += sums_[i];
                total.second += squares_[i];
            }
        }
        return total;
    }

    template <class F>
    static void for_chunks(int64_t first, int64_t end, int64_t n, F chunk) {
        for (int64_t i = first; i < end; i++)
            chunk(i, std::min(kChunk, n - i * kChunk));
    }
    template <class R>
    static R element(R rows, int64_t i, Type type) {
        return at(rows, i * bytes_of(type));
    }

    void sum(int64_t first, int64_t end) {
        for_chunks(first, end, plan_.k, [&](int64_t chunk, int64_t n) {
            c_.kernels->sum(element(c_.x, chunk * kChunk, plan_.x), 1, n, &sums_[chunk - round_]);
        });
    }

    // Of the first k elements' sums; what lies beyond is added up for nothing.
    void add(int64_t first, int64_t end) {
        for_chunks(first, end, plan_.n, [&](int64_t chunk, int64_t n) {
            const int64_t begin = chunk * kChunk, counted = std::clamp<int64_t>(plan_.k - begin, 0, n);
            double unused = 0;
            add_part(begin, counted, &sums_[chunk - round_]);
            add_part(begin + counted, n - counted, &unused);
        });
    }
    void add_part(int64_t i, int64_t n, double *sum) {
        if (n > 0)
            plan_.add(element(c_.x, i, plan_.x), element(c_.residual, i, plan_.residual),
                      element(sum_, i, plan_.residual), 1, n, sum);
    }

    void centred(int64_t first, int64_t end) {
        for_chunks(first, end, plan_.n, [&](int64_t chunk, int64_t n) {
            c_.kernels->centred(element(s_, chunk * kChunk, c_.kernels->type), 1, n, &centre_, &sums_[chunk - round_],
                                &squares_[chunk - round_]);
        });
    }

    void apply(int64_t first, int64_t end) {
        const int64_t begin = first * kChunk;
        ApplyArguments to = c_.to;
        to.x = element(s_, begin, c_.kernels->type);
        to.y = element(to.y, begin, plan_.y);
        to.w = element(to.w, begin, plan_.weight);
        to.b = element(to.b, begin, plan_.weight);
        to.n = std::min(end * kChunk, plan_.n) - begin;
        to.rows = 1;
        to.scale = scale_;
        c_.apply(to);
    }

    const Plan &plan_;
    const Cursor &c_;
    const size_t threads_;
    const MutableRows sum_; // where x + residual goes, see rows.cpp
    const Rows s_;          // what is normalised
    double centre_ = 0;
    const Scale *scale_ = nullptr;
    int64_t round_ = 0;
    double sums_[kRound], squares_[kRound];
};

} // namespace

bool is_long_row(const Plan &plan, const rownorm_io &io) noexcept {
    constexpr int64_t worth_sharing = 2 << 20;
    const bool sum_has_no_place = io.residual.data && !io.residual_out.data && plan.y != plan.residual;
    return !sum_has_no_place && traffic(plan, io, 1) >= worth_sharing;
}

void run_long_row(const Plan &plan, const rownorm_io &io, int64_t row, size_t threads) noexcept {
    const DefaultFloatState state;
    Cursor c{};
    Segments(plan, io, plan.rows_of(io)).set(c, row);
    LongRow(plan, c, threads).run();
}

} // namespace rownorm
