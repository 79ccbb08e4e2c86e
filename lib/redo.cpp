// SPDX-License-Identifier: Apache-2.0
#include "redo.hpp"

#include "kernels/half.hpp"
#include "scale.hpp"

namespace rownorm {
namespace {

double load(const void *p, Type type, int64_t i) {
    switch (type) {
    case kF32:
        return double(static_cast<const float *>(p)[i]);
    case kF16:
        return double(f16_to_f32(static_cast<const uint16_t *>(p)[i]));
    case kBf16:
        return double(bf16_to_f32(static_cast<const uint16_t *>(p)[i]));
    default:
        return static_cast<const double *>(p)[i];
    }
}

float rounded(float v, Type type) {
    return type == kF16 ? f16_to_f32(f32_to_f16(v)) : type == kBf16 ? bf16_to_f32(f32_to_bf16(v)) : v;
}

void store(void *p, Type type, int64_t i, double v) {
    switch (type) {
    case kF32:
        static_cast<float *>(p)[i] = float(v);
        break;
    case kF16:
        static_cast<uint16_t *>(p)[i] = f32_to_f16(float(v));
        break;
    case kBf16:
        static_cast<uint16_t *>(p)[i] = f32_to_bf16(float(v));
        break;
    default:
        static_cast<double *>(p)[i] = v;
    }
}

// Element i of what is normalised.
double element(const RowData &row, int64_t i) {
    const double x = load(row.x, row.x_type, i);
    if (!row.residual)
        return x;
    return double(rounded(float(x) + float(load(row.residual, row.residual_type, i)), row.residual_type));
}

// The sum of term(i) over n elements in L lanes and the tree of lib/kernels/lanes.hpp, in f64.
template <int L, class Term>
double lane_sum(int64_t n, Term term) {
    double sum = 0;
    for (int64_t first = 0; first < n; first += kChunk) {
        const int64_t end = n - first < kChunk ? n : first + kChunk;
        double lanes[L] = {};
        for (int64_t i = first; i < end; i++)
            lanes[(i - first) % L] += term(i);
        for (int half = L / 2; half >= 1; half /= 2)
            for (int j = 0; j < half; j++)
                lanes[j] += lanes[j + half];
        sum += lanes[0];
    }
    return sum;
}

// y from t, which is x normalised: gain and bias, in f64 and never fused.
void finish(const Plan &plan, const RowData &row, int64_t i, double t) {
    const bool f64 = row.x_type == kF64;
    if (plan.round)
        t = double(rounded(float(t), plan.round == ROWNORM_ROUND_TO_F16 ? kF16 : kBf16));
    if (row.w) {
        const double w = load(row.w, plan.weight, i);
        t = t * (f64 ? w + plan.weight_offset : double(float(w) + float(plan.weight_offset)));
    }
    if (row.b)
        t = t + load(row.b, plan.weight, i);
    store(row.y, plan.y, i, t);
}

int exponent_of(double v) { return v == 0 ? -1074 : __builtin_ilogb(v); }

// The largest |term(i)|, or a negative number if one is not finite.
template <class Term>
double largest(int64_t n, Term term) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        const double magnitude = __builtin_fabs(term(i));
        if (!is_finite_number(magnitude))
            return -1;
        largest = magnitude > largest ? magnitude : largest;
    }
    return largest;
}

// The exponent to scale by: that of the row, but none that lets eps overflow.
int scale_exponent(double magnitude, double eps_in_x) {
    const int row = exponent_of(magnitude), eps = exponent_of(eps_in_x);
    return row > eps ? row : eps;
}

bool eps_is_outside_root(const Plan &plan) { // then it has the unit of x
    return plan.op == ROWNORM_L2_NORM && (plan.l2_eps == ROWNORM_L2_EPS_MAX || plan.l2_eps == ROWNORM_L2_EPS_ADD);
}

bool is_normal(double v) { return v >= 0x1p-1022 && is_finite_number(v); }

Scale redo_scaled_squares(const Plan &plan, const RowData &row, double magnitude) {
    const int e = scale_exponent(magnitude, eps_is_outside_root(plan) ? plan.eps : __builtin_sqrt(plan.eps));
    const auto x = [&](int64_t i) { return __builtin_ldexp(element(row, i), -e); };
    const double squares = lane_sum<32>(plan.k, [&](int64_t i) { return x(i) * x(i); });
    const Root root = root_of_squares(plan, squares, __builtin_ldexp(plan.eps, -2 * e), __builtin_ldexp(plan.eps, -e));
    // x itself where the factor allows it: scaled, an x far below the largest one would lose digits or be 0.
    const double rstd = __builtin_ldexp(root.factor, -e);
    const bool direct = is_normal(rstd);
    // Else scaled by so much before the product that it is finite, and by the rest after it.
    const int before = e > 64 ? 64 : e, after = e - before;
    const auto t = [&](int64_t i) {
        return __builtin_ldexp(__builtin_ldexp(element(row, i), -before) * root.factor, -after);
    };
    for (int64_t i = 0; i < plan.n; i++)
        finish(plan, row, i, direct ? element(row, i) * rstd : t(i));
    return {0, 0, rstd};
}

// Twice scaled: x, so that its sum is finite; then x - mean, which can be far smaller.
Scale redo_scaled_variance(const Plan &plan, const RowData &row, double magnitude) {
    const double n = double(plan.n);
    const int e_x = exponent_of(magnitude);
    const auto x = [&](int64_t i) { return __builtin_ldexp(element(row, i), -e_x); };
    const double first = lane_sum<32>(plan.n, x) / n;
    // The first mean is rounded. Of a constant row its error is all that x - mean holds, and scaled by that eps would
    // be lost, so that the row would end as 0 * infinity.
    const double mean_error = lane_sum<32>(plan.n, [&](int64_t i) { return x(i) - first; }) / n;
    const auto centred = [&](int64_t i) { return (x(i) - first) - mean_error; };
    const double spread = largest(plan.n, centred);
    const double eps_in_x = __builtin_ldexp(__builtin_sqrt(plan.eps), -e_x);
    const int e_d = scale_exponent(spread, eps_in_x);
    const auto d = [&](int64_t i) { return __builtin_ldexp(centred(i), -e_d); };
    const double sum = lane_sum<32>(plan.n, d);
    const double squares = lane_sum<32>(plan.n, [&](int64_t i) { return d(i) * d(i); });
    const Root root = root_of_variance(sum, squares, plan.elements, __builtin_ldexp(plan.eps, -2 * (e_x + e_d)));
    const double delta = sum / n;
    for (int64_t i = 0; i < plan.n; i++)
        finish(plan, row, i, (d(i) - delta) * root.factor);
    const double whole_mean = __builtin_ldexp(first + (mean_error + __builtin_ldexp(delta, e_d)), e_x);
    return {whole_mean, 0, __builtin_ldexp(root.factor, -(e_x + e_d))};
}

} // namespace

Scale redo_in_f64(const Plan &plan, const RowData &row) noexcept {
    const auto x = [&](int64_t i) { return element(row, i); };
    Scale scale{0, 0, 0};
    if (plan.op == ROWNORM_LAYER_NORM) {
        scale.mean = lane_sum<64>(plan.n, x) / double(plan.n);
        const auto d = [&](int64_t i) { return x(i) - scale.mean; };
        const double sum = lane_sum<32>(plan.n, d);
        const double squares = lane_sum<64>(plan.n, [&](int64_t i) { return d(i) * d(i); });
        scale.rstd = root_of_variance(sum, squares, plan.elements, plan.eps).factor;
        scale.delta = sum / double(plan.n);
    } else {
        const double squares = lane_sum<64>(plan.k, [&](int64_t i) { return x(i) * x(i); });
        scale.rstd = root_of_squares(plan, squares, plan.eps, plan.eps).factor;
    }
    for (int64_t i = 0; i < plan.n; i++)
        finish(plan, row, i, ((x(i) - scale.mean) - scale.delta) * scale.rstd);
    return scale;
}

bool redo_scaled(const Plan &plan, const RowData &row, Scale &scale) noexcept {
    // Of the elements that the statistic is of: the others must neither set its scale nor, being NaN, stop it.
    const double magnitude = largest(plan.k, [&](int64_t i) { return element(row, i); });
    if (magnitude < 0)
        return false;
    scale = plan.op == ROWNORM_LAYER_NORM ? redo_scaled_variance(plan, row, magnitude)
                                          : redo_scaled_squares(plan, row, magnitude);
    return true;
}

} // namespace rownorm
