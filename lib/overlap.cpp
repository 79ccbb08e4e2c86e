// SPDX-License-Identifier: Apache-2.0
#include "overlap.hpp"

namespace rownorm {
namespace {

// Two rows, one of each block, are `distance + sum of count*stride` bytes apart, each count running from low to
// high. The search walks the strides from the largest down and tries only counts that the smaller ones can
// still bring close enough to 0, which are few where the strides nest.
class Search {
public:
    Search(int64_t low_end, int64_t high_end) : low_end_(low_end), high_end_(high_end) {}

    void add(int64_t stride, int64_t low, int64_t high) {
        if (stride == 0 || (low == 0 && high == 0))
            return;
        for (int i = 0; i < terms_; i++)
            if (term_[i].stride == stride) {
                term_[i].low += low;
                term_[i].high += high;
                return;
            }
        int i = terms_++;
        for (; i > 0 && term_[i - 1].stride < stride; i--)
            term_[i] = term_[i - 1];
        term_[i] = {stride, low, high};
    }

    // Is some distance in (low_end, high_end)? `skip_zero` leaves out the one where every count is 0.
    Overlap run(int64_t distance, bool skip_zero) {
        skip_zero_ = skip_zero;
        const bool found = visit(0, distance, true);
        return found ? Overlap::kSome : steps_ > kMaxSteps ? Overlap::kUnknown : Overlap::kNone;
    }

private:
    struct Term {
        int64_t stride, low, high;
    };
    static constexpr int64_t kMaxSteps = 1 << 18;

    bool visit(int i, int64_t distance, bool all_zero) {
        if (i == terms_)
            return distance > low_end_ && distance < high_end_ && !(skip_zero_ && all_zero);
        int64_t rest_low = 0, rest_high = 0;
        for (int j = i + 1; j < terms_; j++) {
            rest_low += term_[j].stride * term_[j].low;
            rest_high += term_[j].stride * term_[j].high;
        }
        const Term &t = term_[i];
        // low_end < distance + count*stride + rest < high_end for some rest
        const int64_t from = ceil_divide(low_end_ + 1 - rest_high - distance, t.stride);
        const int64_t to = -ceil_divide(-(high_end_ - 1 - rest_low - distance), t.stride);
        for (int64_t count = from > t.low ? from : t.low; count <= to && count <= t.high; count++) {
            if (++steps_ > kMaxSteps)
                return false;
            if (visit(i + 1, distance + count * t.stride, all_zero && count == 0))
                return true;
        }
        return false;
    }

    static int64_t ceil_divide(int64_t a, int64_t b) { return a / b + (a % b > 0); }

    Term term_[6];
    int terms_ = 0;
    int64_t low_end_, high_end_;
    int64_t steps_ = 0;
    bool skip_zero_ = false;
};

bool nests(const Block &a) {
    int64_t reach = a.row_bytes;
    for (int d = 2; d >= 0; d--) {
        if (a.extent[d] == 1)
            continue;
        if (a.stride[d] < reach)
            return false;
        reach = a.stride[d] * a.extent[d];
    }
    return true;
}

} // namespace

Overlap overlap(const Block &a, const Block &b) noexcept {
    if (a.end() <= b.address || b.end() <= a.address)
        return Overlap::kNone;
    Search search(-b.row_bytes, a.row_bytes);
    for (int d = 0; d < 3; d++) {
        search.add(b.stride[d], 0, b.extent[d] - 1);
        search.add(a.stride[d], 1 - a.extent[d], 0);
    }
    return search.run(int64_t(b.address - a.address), false);
}

Overlap self_overlap(const Block &a) noexcept {
    if (nests(a)) // the usual case: each dimension steps over all of the next
        return Overlap::kNone;
    for (int d = 0; d < 3; d++)
        for (int other = 0; other < 3; other++)
            if (a.extent[d] > 1 &&
                (a.stride[d] == 0 || (other != d && a.extent[other] > 1 && a.stride[d] == a.stride[other])))
                return Overlap::kSome;
    Search search(-a.row_bytes, a.row_bytes);
    for (int d = 0; d < 3; d++)
        search.add(a.stride[d], 1 - a.extent[d], a.extent[d] - 1);
    return search.run(0, true);
}

} // namespace rownorm
