// SPDX-License-Identifier: Apache-2.0
#include "plan.hpp"

#include "float_state.hpp"
#include "sized.hpp"
#include "status.hpp"

#include <cmath>
#include <cstring>

namespace rownorm {
namespace {

// By their bits: the caller, or whoever builds this file, may have a -ffast-math that folds isfinite away.
bool is_finite(double v) { return (__builtin_bit_cast(uint64_t, v) >> 52 & 0x7ff) != 0x7ff; }
bool is_negative(double v) { return v != 0 && __builtin_bit_cast(uint64_t, v) >> 63; }

bool is_type(rownorm_type type) { return type >= ROWNORM_F32 && type <= ROWNORM_F64; }
constexpr Type kType[] = {kF32, kF32, kF16, kBf16, kF64}; // of a rownorm_type

rownorm_status check_types(const rownorm_descriptor &d) {
    const struct {
        const char *name;
        rownorm_type type;
    } types[] = {{"residual_type", d.residual_type}, {"y_type", d.y_type}, {"weight_type", d.weight_type}};
    if (!is_type(d.x_type))
        return fail(ROWNORM_INVALID_ARGUMENT, "x_type is %u; it must be ROWNORM_F32, _F16, _BF16 or _F64", d.x_type);
    for (const auto &t : types) {
        if (t.type != ROWNORM_TYPE_AS_X && !is_type(t.type))
            return fail(ROWNORM_INVALID_ARGUMENT, "%s is %u, which is not a rownorm_type", t.name, t.type);
        if (t.type != ROWNORM_TYPE_AS_X && (t.type == ROWNORM_F64) != (d.x_type == ROWNORM_F64))
            return fail(ROWNORM_INVALID_ARGUMENT, "%s is %u and x_type is %u; f64 goes only with f64", t.name, t.type,
                        d.x_type);
    }
    return ROWNORM_OK;
}

rownorm_status check_modes(const rownorm_descriptor &d) {
    if (d.flags)
        return fail(ROWNORM_INVALID_ARGUMENT, "flags is %#x; no flag is defined, it must be 0", d.flags);
    if (d.op < ROWNORM_RMS_NORM || d.op > ROWNORM_L2_NORM)
        return fail(ROWNORM_INVALID_ARGUMENT, "op is %u, which is not a rownorm_op", d.op);
    if (d.round_before_weight > ROWNORM_ROUND_TO_BF16)
        return fail(ROWNORM_INVALID_ARGUMENT, "round_before_weight is %u, which is not a rownorm_round",
                    d.round_before_weight);
    if (d.round_before_weight && d.x_type == ROWNORM_F64)
        return fail(ROWNORM_INVALID_ARGUMENT, "round_before_weight is %u; for f64 it must be ROWNORM_ROUND_ONCE",
                    d.round_before_weight);
    if (d.l2_eps > ROWNORM_L2_EPS_CLAMP || (d.l2_eps && d.op != ROWNORM_L2_NORM))
        return fail(ROWNORM_INVALID_ARGUMENT,
                    "l2_eps is %u; it must be a rownorm_l2_eps, and 0 for other ops than L2Norm", d.l2_eps);
    return ROWNORM_OK;
}

rownorm_status check_n(int64_t n, Type widest) {
    if (n < 1)
        return fail(ROWNORM_INVALID_ARGUMENT, "n is %lld; it must be at least 1", static_cast<long long>(n));
    if (n > (int64_t(1) << 59) / bytes_of(widest)) // so that sums of a few rows' bytes do not overflow
        return fail(ROWNORM_INVALID_ARGUMENT, "n is %lld; a row of that many elements overflows",
                    static_cast<long long>(n));
    return ROWNORM_OK;
}

rownorm_status check_numbers(const rownorm_descriptor &d) {
    const bool f64 = d.x_type == ROWNORM_F64;
    if (const rownorm_status status = check_n(d.n, f64 ? kF64 : kF32))
        return status;
    if (!is_finite(d.eps) || is_negative(d.eps) || (!f64 && !is_finite(double(float(d.eps)))))
        return fail(ROWNORM_INVALID_ARGUMENT,
                    "eps is %g; it must be finite (as a float for f32 arithmetic) and at least 0", d.eps);
    if (!is_finite(d.weight_offset) || (!f64 && !is_finite(double(float(d.weight_offset)))))
        return fail(ROWNORM_INVALID_ARGUMENT, "weight_offset is %g; it must be finite", d.weight_offset);
    return ROWNORM_OK;
}

// k from k or p. The 2^-40 keeps a p that was rounded up from asking for one element more.
rownorm_status partial_count(const rownorm_descriptor &d, int64_t &k) {
    const bool has_p = __builtin_bit_cast(uint64_t, d.p) << 1 != 0;
    if ((d.k || has_p) && d.op != ROWNORM_RMS_NORM)
        return fail(ROWNORM_INVALID_ARGUMENT, "k is %lld and p is %g; they are for RMSNorm only",
                    static_cast<long long>(d.k), d.p);
    if (d.k && has_p)
        return fail(ROWNORM_INVALID_ARGUMENT, "k is %lld and p is %g; give one of them", static_cast<long long>(d.k),
                    d.p);
    if (d.k < 0 || d.k > d.n)
        return fail(ROWNORM_INVALID_ARGUMENT, "k is %lld; it must be 1 to n = %lld, or 0 for all",
                    static_cast<long long>(d.k), static_cast<long long>(d.n));
    if (!has_p) {
        k = d.k ? d.k : d.n;
        return ROWNORM_OK;
    }
    if (!is_finite(d.p) || !(d.p > 0 && d.p <= 1))
        return fail(ROWNORM_INVALID_ARGUMENT, "p is %g; it must be in (0, 1]", d.p);
    const double wanted = std::ceil(double(d.n) * d.p * (1 - 0x1p-40));
    k = wanted < 1 ? 1 : wanted >= double(d.n) ? d.n : int64_t(wanted);
    return ROWNORM_OK;
}

void choose_whole_row_kernels(Plan &plan) {
    plan.whole = plan.whole_added = {};
    const bool centred = plan.op == ROWNORM_LAYER_NORM;
    if (plan.is_f64 || affine_of(plan, true, centred) != (centred ? kGainBias : kGain))
        return;
    const auto choose = [&](bool adds) {
        RowKind row{plan.x, plan.y, plan.weight, plan.n, centred, adds};
        WholeRowKernels whole = whole_row_kernels_of(plan.isa->kernels_for(row), row);
        row.alone = true;
        whole.one = whole_row_kernels_of(plan.isa->kernels_for(row), row).one;
        return whole;
    };
    plan.whole = choose(false);
    if (plan.residual == plan.x && plan.k == plan.n)
        plan.whole_added = choose(true);
    if (plan.op == ROWNORM_L2_NORM || plan.k != plan.n)
        plan.whole.one = plan.whole_added.one = nullptr;
}

void choose_kernels(Plan &plan) {
    const bool centred = plan.op == ROWNORM_LAYER_NORM;
    const RowKind plain{plan.x, plan.y, plan.weight, plan.n, centred, false},
        added{plan.residual, plan.y, plan.weight, plan.n, centred, true},
        sum{plan.x, plan.residual, plan.residual, plan.n, centred, true};
    const ResidualKernels &residual = *plan.isa->kernels_for(sum).residual;
    if (plan.x == kF64)
        plan.add = centred ? residual.add_sum_f64 : residual.add_sum_squares_f64;
    else
        plan.add = (centred ? residual.add_sum : residual.add_sum_squares)[plan.x][plan.residual];
    plan.x_bytes = plan.n * bytes_of(plan.x);
    plan.y_bytes = plan.n * bytes_of(plan.y);
    plan.weight_bytes = plan.n * bytes_of(plan.weight);
    plan.misaligned = uint64_t(bytes_of(plan.x) - 1) | uint64_t(bytes_of(plan.residual) - 1) |
                      uint64_t(bytes_of(plan.y) - 1) | uint64_t(bytes_of(plan.weight) - 1);
    plan.most_bytes = plan.x_bytes + plan.y_bytes + 2 * plan.n * bytes_of(plan.residual);
    RowKind streamed = plain, streamed_added = added;
    streamed.streamed = streamed_added.streamed = true;
    streamed.unpaced = plan.k < plan.n || plan.x_bytes > machine().l1 / 2;
    plan.plain = kernels_of(plan.isa->kernels_for(plain), plain);
    plan.streamed = kernels_of(plan.isa->kernels_for(streamed), streamed);
    plan.added = kernels_of(plan.isa->kernels_for(added), added);
    plan.streamed_added = kernels_of(plan.isa->kernels_for(streamed_added), streamed_added);
    if (plan.x != plan.residual || plan.k != plan.n)
        plan.added.of_short.add = plan.streamed_added.of_short.add = nullptr;
    choose_whole_row_kernels(plan);
}

void set_numbers(Plan &plan, double eps, double weight_offset) {
    plan.is_f64 = plan.x == kF64;
    plan.eps = plan.x == kF64 ? eps : double(float(eps));
    plan.weight_offset = plan.x == kF64 ? weight_offset : double(float(weight_offset));
    if (plan.weight_offset == 0)
        plan.weight_offset = -0.0;
}

} // namespace

[[gnu::noinline]] Count counted(int64_t n) noexcept { return count_of(n); }

rownorm_status make_plan(Plan &plan, const rownorm_descriptor *descriptor) noexcept {
    const DefaultFloatState state;
    if (!descriptor)
        return fail(ROWNORM_INVALID_ARGUMENT, "descriptor is NULL");
    rownorm_descriptor d;
    rownorm_status status = copy_sized(d, descriptor, "descriptor");
    if (!status)
        status = check_types(d);
    if (!status)
        status = check_modes(d);
    if (!status)
        status = check_numbers(d);
    if (!status)
        status = partial_count(d, plan.k);
    if (!status)
        plan.isa = choose_isa(d.isa, d.max_isa, &status);
    if (status)
        return status;
    plan.op = d.op;
    plan.l2_eps = d.l2_eps;
    plan.round = d.round_before_weight;
    plan.max_threads = d.max_threads;
    plan.n = d.n;
    plan.elements = counted(plan.k);
    plan.x = kType[d.x_type];
    plan.residual = kType[d.residual_type ? d.residual_type : d.x_type];
    plan.y = kType[d.y_type ? d.y_type : d.x_type];
    plan.weight = kType[d.weight_type ? d.weight_type : d.x_type];
    set_numbers(plan, d.eps, d.weight_offset);
    choose_kernels(plan);
    return ROWNORM_OK;
}

} // namespace rownorm
