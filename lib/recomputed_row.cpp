// SPDX-License-Identifier: Apache-2.0
#include "recomputed_row.hpp"

#include "redo.hpp"
#include "tile.hpp"

namespace rownorm {
namespace {

class RecomputedRow {
public:
    RecomputedRow(const Plan &plan, const Cursor &c) : plan_(plan), c_(c) {}

    void run() {
        Tile t;
        t.clear(1);
        for_chunks(plan_.k, [&](int64_t first, int64_t n) { make(first, n, t.sums); });
        if (close(t)) {
            write(t);
            put_statistics(plan_, c_, 0, mean_of(plan_, t, 0), t.scale[0].rstd);
        } else { // never f64, whose y has the residual's type
            const Scale scale = redo_in_f64(plan_, {c_.x.data, c_.residual.data, plan_.x, plan_.residual, c_.to.w.data,
                                                    c_.to.b.data, c_.to.y.data});
            put_statistics(plan_, c_, 0, scale.mean + scale.delta, scale.rstd);
        }
    }

private:
    template <class F>
    static void for_chunks(int64_t n, F chunk) {
        for (int64_t i = 0; i < n; i += kChunk)
            chunk(i, n - i < kChunk ? n - i : kChunk);
    }

    // n elements of the sum from `first` on; adds to *sum.
    Rows make(int64_t first, int64_t n, double *sum) {
        const int64_t x = first * bytes_of(plan_.x), s = first * bytes_of(plan_.residual);
        plan_.add(at(c_.x, x), at(c_.residual, s), {buffer_, 0}, 1, n, sum);
        return {buffer_, 0};
    }

    bool close(Tile &t) {
        if (plan_.op != ROWNORM_LAYER_NORM)
            return close_squares(plan_, 1, t);
        estimate_means(plan_, 1, t);
        double unused = 0;
        for_chunks(plan_.n, [&](int64_t first, int64_t n) {
            c_.kernels->centred(make(first, n, &unused), 1, n, t.centre, t.sums, t.squares);
        });
        return close_centred(plan_, 1, t);
    }

    void write(const Tile &t) {
        ApplyArguments to = c_.to;
        to.rows = 1;
        to.scale = t.scale;
        for_chunks(plan_.n, [&](int64_t first, int64_t n) {
            double unused = 0;
            to.n = n;
            to.x = make(first, n, &unused);
            to.y = at(c_.to.y, first * bytes_of(plan_.y));
            to.w = at(c_.to.w, first * bytes_of(plan_.weight));
            to.b = at(c_.to.b, first * bytes_of(plan_.weight));
            c_.apply(to);
        });
    }

    const Plan &plan_;
    const Cursor &c_;
    alignas(64) char buffer_[kChunk * 4];
};

} // namespace

void run_recomputed_row(const Plan &plan, const Cursor &c) noexcept { RecomputedRow(plan, c).run(); }

} // namespace rownorm
