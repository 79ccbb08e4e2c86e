# SPDX-License-Identifier: Apache-2.0
"""The mutations: small changes of lib/ that a tired programmer, or an optimiser, could make.

`edits` replace text of one file, everywhere in it. Compiled anew are all objects outside of lib/kernels that have the
file in them; or, of a kernel, only the `objects` named ("avx2/statistics" is lib/kernels/statistics.cpp for avx2): one
ISA is enough, as the ISAs must agree. `tests` are those that should notice, the smallest first; if none does, the
whole suite is asked.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Mutation:
    what: str
    file: str
    edits: tuple
    objects: tuple
    tests: tuple
    quick: bool = False
    equivalent: str = ""  # why no test can notice


def one(what, file, text, replacement, *tests, **more):
    return Mutation(what, file, ((text, replacement),), (), tests, **more)


def two(what, file, edits, *tests):
    return Mutation(what, file, edits, (), tests)


def kernel(what, file, text, replacement, objects, *tests, **more):
    return Mutation(what, file, ((text, replacement),), tuple(objects.split()), tests, **more)


FORMULAS = [
    two("RMSNorm: eps outside the root", "root.hpp",
        (("return bounds_of_inverse_root(sum * elements.inverse + eps);",
          "const V v = sum * elements.inverse, inverse = 1.0 / (square_root(v) + eps);\n"
          "    return {v, inverse * kBelow, inverse * kAbove};"),
         ("const V v = sum / elements + eps;\n    return {v, 1.0 / square_root(v)};",
          "const V v = sum / elements + eps;\n    return {v, 1.0 / (square_root(v - eps) + eps)};")),
        "suite: affine"),
    one("RMSNorm: a root that its bounds do not settle is taken without eps", "root.hpp",
        "const V v = sum / elements + eps;", "const double v = sum / elements;",
        "suite at full scale: several rows"),
    one("the second of two rows takes the factor of the first", "root.hpp",
        "{two.argument[i], two.low[i], two.high[i]}", "{two.argument[i], two.low[0], two.high[0]}", "suite: affine"),
    one("bounds of roots and quotients that are one number", "root.hpp",
        "kBelow = 1 - 0x1p-48, kAbove = 1 + 0x1p-48", "kBelow = 1, kAbove = 1", "suite at full scale: several rows"),
    one("bounds settle rows whose squares have underflowed", "root.hpp", " && bounds.argument > kSettledFrom", "",
        "suite: lane model", "suite at full scale: several rows"),
    one("LayerNorm: bounds settle a variance that has lost its digits", "root.hpp",
        "correction <= 0.5 * squares ? v : V{}", "v", "suite at full scale: several rows", "suite: LayerNorm"),
    one("LayerNorm: a mean in the middle between two floats rounded from its lower bound", "root.hpp",
        "return __builtin_expect(low == high, 1) ? low : float(sum / elements);", "return low;",
        "suite at full scale: several rows"),
    one("RMSNorm: a statistic of k elements divided by n", "plan.cpp",
        "plan.elements = counted(plan.k);", "plan.elements = counted(plan.n);", "suite: affine", quick=True),
    two("LayerNorm: the variance without its correction", "root.hpp",
        (("const V correction = sum * sum * elements.inverse;", "const V correction = 0 * sum;"),
         ("(squares - sum * sum / elements) / elements", "squares / elements")),
        "suite: LayerNorm", "suite: lane model"),
    one("LayerNorm: a variance that rounding made negative is not taken for 0", "root.hpp",
        "(variance < 0.0 ? V{} : variance)", "variance", "suite: LayerNorm", equivalent=
        "it is negative only where all d are equal, a multiple of an ulp of the first mean by some twenty at most; "
        "their sums and squares are then exact, and it is 0. The clamp guards rows beyond 2^22 elements"),
    one("L2Norm: a max that hides NaN", "scale.hpp",
        "(d < outer_eps ? outer_eps : d)", "(d > outer_eps ? d : outer_eps)",
        "suite: NaN and infinity"),
    one("L2Norm: eps added inside the root instead of outside", "scale.hpp",
        "(__builtin_sqrt(sum) + outer_eps)", "__builtin_sqrt(sum + outer_eps)",
        "suite: affine"),
    one("the reported mean without the second pass", "tile.hpp",
        "t.centre[r] + t.sums[r] / formula.elements : 0", "t.centre[r] : 0", "suite: lane model"),
    two("rows are redone from 2^-90 on, not 2^-100", "root.hpp",
        (("0x1p-100", "0x1p-90"), ("kSettledFrom = 0x1p-99", "kSettledFrom = 0x1p-89")), "suite: lane model"),
    one("rows from 2^-100 to 2^-99, whose bounds do not settle it, are redone", "root.hpp", "0x1p-100", "0x1p-99",
        "suite: lane model"),
    kernel("RMSNorm: a sum that overflowed is not noticed in kernels for whole rows", "root.hpp",
        "return is_finite_number(sum) && is_large_enough", "return is_large_enough", "avx2/one_row avx2/short_rows",
        "suite: one row", "suite: several rows"),
    one("RMSNorm and L2Norm: a sum that overflowed is not noticed", "tile.hpp",
        "t.fits[r] = is_finite_number(t.sums[r]) && is_large_enough", "t.fits[r] = is_large_enough",
        "suite: magnitudes"),
    one("redone rows: squares in 32 lanes, not 64", "redo.cpp",
        "lane_sum<64>(plan.k", "lane_sum<32>(plan.k", "suite: redone rows"),
    one("redone rows: the mean in 32 lanes, not 64", "redo.cpp",
        "scale.mean = lane_sum<64>", "scale.mean = lane_sum<32>", "suite: redone rows"),
    one("redone rows: >= for > where f32 is rounded to bf16: infinity is taken for NaN", "kernels/half.hpp",
        "(u & 0x7fffffff) > 0x7f800000", "(u & 0x7fffffff) >= 0x7f800000", "suite: redone rows"),
    one("a share p of n rounded up without slack", "plan.cpp", "(1 - 0x1p-40)", "1.0", "suite: ABI: descriptor"),
    one("no weight offset adds +0, which turns a gain of -0 into +0", "plan.cpp",
        "plan.weight_offset = -0.0;", "plan.weight_offset = 0.0;", "suite: signed zeros", quick=True),
]

HOST = [
    one("the caller's floating-point state is not restored", "float_state.hpp",
        "if (__builtin_expect(changed_, 0))\n            write(state_);", "",
        "suite: floating-point state"),
    one("another rounding mode is not noticed", "float_state.hpp", "kSticky = 0x3f;", "kSticky = 0x3f | 0x6000;",
        "suite: floating-point state"),
    one("denormals-are-zero is not noticed", "float_state.hpp", "kSticky = 0x3f;", "kSticky = 0x3f | 0x40;",
        "suite: floating-point state"),
    one("rows on the short way run in the caller's floating-point state", "rows.cpp",
        "const DefaultFloatState state;\n    const RowsDone done", "const RowsDone done",
        "suite: floating-point state", "suite at full scale: several rows"),
    one("one-line calls: rows run in the caller's floating-point state", "one_line.cpp",
        "const DefaultFloatState state;\n    const Isa &isa", "const Isa &isa",
        "suite: one-line calls", "suite: floating-point state"),
    one("one-line calls: a subnormal eps is taken as the caller's floating-point state has it", "one_line.cpp",
        "const Call call{op, type, n, as_double(eps)};", "const Call call{op, type, n, double(eps)};",
        "suite: one-line calls"),
    one("one-line calls: one row takes an eps that is infinite or NaN", "one_line.cpp",
        "eps_bits - 0x00800000 < 0x7f000000", "eps_bits - 0x00800000 < 0x7f800000", "suite: one-line calls"),
    one("the ISA is chosen by the CPU alone, not by what the operating system saves", "cpu.cpp",
        "if (!cpu.saves(kZmm))", "if (false)", "emulated: avx512-off"),
    one("max_isa lifts the cap of ROWNORM_MAX_ISA", "dispatch.cpp", "from = cap > from ? cap : from;", "from = cap;",
        "suite under avx2: ISA", "ctest: hosts.max_isa", quick=True),
    two("max_threads is ignored", "execute.cpp",
        (("plan.max_threads != 1 && ", ""),
         ("plan.max_threads ? plan.max_threads : current_threads()", "current_threads()")),
        "ctest: hosts.serial"),
    one("a share for every task, not for max_threads threads", "execute.cpp", "std::min(size_t(threads), count)",
        "count", "ctest: hosts.max_threads"),
    one("a task that is asked for twice runs twice", "parallel.hpp",
        "!taken_[task].exchange(true, std::memory_order_relaxed)", "true", "suite: ABI: running"),
    one("an executor that leaves tasks out has done its work", "parallel.cpp",
        "return !failed && tasks.all_done();", "return !failed;", "suite: ABI: running", quick=True),
    one("< for <= where rows are dealt to parts", "rows.hpp", "part < larger ? part : larger",
        "part <= larger ? part : larger - 1", "suite: threads"),
    one("the message of the last error is shared by threads", "status.cpp", "thread_local char", "char",
        "suite: ABI: *"),
]

LAYOUT = [
    one("the gain's rows at the stride of x", "cursor.hpp", "{io_.w.data, io_.w.stride_bytes[inner_]}",
        "{io_.w.data, io_.x.stride_bytes[inner_]}", "suite: layout"),
    one("the rest of a partial row's residual at the offset of x", "rows.cpp",
        "skip = plan_.k * bytes_of(plan_.residual);", "skip = plan_.k * bytes_of(plan_.x);", "suite: fused add"),
    one("rows that threads share: the sums of chunks added backwards", "long_row.cpp",
        "total.first += sums_[i];", "total.first += sums_[chunks - 1 - i];", "suite: threads"),
    one("a residual in place: a tile summed twice after a row that does not fit", "rows.cpp",
        "    if (summed) {", "    if (false) {", "suite: fused add", "suite at full scale: several rows"),
    one("a residual in place: of a group that was summed only the first row is normalised from the sum", "rows.cpp",
        "end, done.summed);", "end, done.summed > 0);", "suite at full scale: several rows"),
    one("several rows: those behind the ones that are done begin at the first again", "plain_rows.hpp",
        "const RowSet left = from(at, done.normalised);", "const RowSet left = at;",
        "suite at full scale: several rows"),
    one("several rows: those that are summed are summed again", "plain_rows.hpp", "done.summed || ", "",
        "suite at full scale: several rows"),
    one("one row: a residual that is the sum already is added once more", "rows.cpp",
        "return run_rest(plan, io, strategy, begin, end, io.residual.data ? 1 : 0);",
        "return run_any(plan, io, strategy, begin, end);", "suite: one row", "suite at full scale: several rows"),
    one("LayerNorm of a sum by a kernel that adds no residual", "plan.hpp",
        "if (centred && adds)\n        return {nullptr, nullptr};", "", "suite: one row",
        "suite at full scale: several rows"),
    one("one row: a bias that RMSNorm has is left out", "rows.cpp", "bool(io.b.data) != needs_bias", "false",
        "suite: one row"),
    one("one row: a statistic of k elements taken of all", "plan.cpp", "!one_type || plan.k != plan.n ||", "!one_type ||",
        "suite: one row"),
    one("one-line calls: one row that is redone is added to the residual once more", "one_line.cpp",
        "return run_rest({op, type, n, double(eps)}, p, rows, adds ? 1 : 0);",
        "return run_any(op, type, p, rows, n, eps);", "suite: one-line calls", "ctest: attack.guards"),
    one("rows that share one element alone do not overlap", "overlap.cpp",
        "Search search(-b.row_bytes, a.row_bytes);", "Search search(-b.row_bytes + 4, a.row_bytes);",
        "suite: ABI: overlap", "suite: ABI: *"),
    one("plain calls: y may begin at the last element of x", "arguments.cpp",
        "return (a.end <= b.begin) | (b.end <= a.begin);", "return (a.end - 4 <= b.begin) | (b.end - 4 <= a.begin);",
        "suite: ABI: *", quick=True),
    one("plain calls: a residual that is written back may overlap the bias", "arguments.cpp", " && disjoint(r, b)", "",
        "suite at full scale: ABI: overlap"),
    one("one-line calls: the gain may overlap y", "one_line.cpp", " || !apart_or_none(y, all, w, row)", "",
        "suite: one-line calls", "suite: ABI: *"),
    one("one-line calls: the rows behind one that is redone begin at the first again", "one_line.cpp",
        "from(p, done.normalised * row)", "p", "suite: one-line calls", "ctest: attack.guards"),
    one("one-line calls: of several rows the rest begins at the first again", "one_line.cpp",
        "from(p, summed * call.n * bytes_of(call.type))", "p", "suite: one-line calls"),
    one("one-line calls: a row that is redone is x, not its sum with the residual", "one_line.cpp",
        "Pointers sums{p.y, p.residual, p.w", "Pointers sums{p.y, p.x, p.w", "suite: one-line calls",
        "ctest: attack.guards"),
    one("unknown fields of a larger struct are not looked at", "sized.hpp", "if (bytes[i])", "if (false)",
        "suite: ABI: struct sizes"),
    one("rows that are not aligned are stored around the caches", "strategy.cpp", "(address | strides) % line == 0",
        "(address | strides) % 4 == 0", "suite at full scale: same bits"),
]

SHORT_ROWS, SHORT = "kernels/short_rows.cpp", "avx2/short_rows"
KERNELS = [
    kernel("chunk sums added in f32", "kernels/sums.hpp", "sum += double(lanes.close());",
        "sum = double(float(sum) + float(lanes.close()));", "avx2/statistics", "hashes"),
    kernel("a chunk of 2,048 elements", "kernel_table.hpp", "kChunk = 1024", "kChunk = 2048", "avx2/statistics",
        "hashes"),
    kernel("a mask one lane too narrow at the end of a row", "kernels/simd_avx2.hpp",
        "window + 8 - count));", "window + 9 - count));", "avx2/statistics", "suite: affine"),
    kernel("the last element of a row dropped", "kernels/lanes.hpp", "left < E::width ? int(left) : E::width",
        "left < E::width - 1 ? int(left) : E::width - 1", "avx2/statistics", "suite: affine"),
    kernel("LayerNorm: lanes behind the row count as -mean", "kernels/sums.hpp", "if (count < E::width)",
        "if (count < 0)", "avx512/statistics", "suite: LayerNorm"),
    kernel("SSE2: a sum halfway between two floats rounded twice", "kernels/simd_sse2.hpp",
        "return _mm_or_pd(_mm_castsi128_pd(low_dword), tiny);", "(void)low_dword;\n    return tiny;", "sse2/statistics",
        "suite: lane model"),
    kernel("the fused add: the norm of a sum that was not rounded", "kernels/sums.hpp",
        "const auto s = R::round(both);", "const auto s = both;", "sse2/residual", "suite: fused add"),
    kernel("LayerNorm: the second pass's mean is not taken off", "kernels/apply.hpp", "(v - mean) - delta", "v - mean",
        "avx2/apply_f64", "suite: LayerNorm", "suite: affine"),
    kernel("a row's end left out if it is one element", "kernels/apply.hpp", "n % Row::width;", "n % Row::width > 1;",
        "avx2/apply_f64", "suite: affine"),
    kernel("a row's end made after its stores, in place", "kernels/apply.hpp", "Y::store(y + n - width, end);",
        "Y::store(y + n - width, at(n - width, X::load(x + n - width)));", "avx2/apply_f64 avx2/one_row", "suite: aliasing",
        "suite: one-line calls"),
    kernel("one row: a sum that the usual arithmetic does not hold is taken for one it holds", "kernels/one_row.cpp",
        "if (__builtin_expect(!rownorm::f32_root_of_mean(sum, rownorm::count_of(n), eps, rstd), 0))\n"
        "        return rownorm::kSummed;",
        "rownorm::f32_root_of_mean(sum, rownorm::count_of(n), eps, rstd);", "avx2/one_row", "suite: one row"),
    kernel("one row: LayerNorm's second pass's mean is left out", "kernels/one_row.cpp",
        "{mean, double(rownorm::f32_quotient(sum, elements)), double(rstd)}", "{mean, 0, double(rstd)}", "avx2/one_row",
        "suite: one row"),
    kernel("several rows: bounds that are one number", "root.hpp", "kBelow = 1 - 0x1p-48, kAbove = 1 + 0x1p-48",
        "kBelow = 1, kAbove = 1", SHORT, "suite at full scale: several rows"),
    kernel("several rows: bounds settle rows whose squares have underflowed", SHORT_ROWS,
        " && all_above(v, rownorm::kSettledFrom)", "", SHORT, "suite at full scale: several rows"),
    kernel("several rows: bounds settle a variance that has lost its digits", SHORT_ROWS,
        "none_above(correction, q * 0.5) && ", "", SHORT, "suite at full scale: several rows"),
    kernel("several rows: a row whose bounds do not settle it is not noticed", SHORT_ROWS,
        "xsimd::all(below == above) && all_above", "all_above", SHORT, "suite at full scale: several rows"),
    kernel("several rows: a mean in the middle between two floats rounded from its lower bound", SHORT_ROWS,
        "if (__builtin_expect(xsimd::all(below == above), 1))", "if (n_ > 0)", SHORT,
        "suite at full scale: several rows"),
    kernel("several rows: the formula's root of the first row for all", SHORT_ROWS,
        "f32_root_of_mean(double(sum[j])", "f32_root_of_mean(double(sum[0])", SHORT,
        "suite at full scale: several rows"),
    kernel("several rows: LayerNorm's root by formula of the first row's squares", SHORT_ROWS,
        "double(of_squares[j])", "double(of_squares[0])", SHORT, "suite at full scale: several rows"),
    kernel("several rows: only the last row of a group that does not settle is asked whether it fits", SHORT_ROWS,
        "all_fit &=", "all_fit =", SHORT, "suite at full scale: several rows"),
    kernel("several rows: lanes without a row hold whatever was there", SHORT_ROWS,
        "for (int64_t row = rows; row < S; row++) {", "for (int64_t row = S; row < S; row++) {", SHORT,
        "suite at full scale: several rows", equivalent=
        "nothing is written from such a lane; if what it holds does not settle or does not fit, the rows of the group "
        "go by the formulas or the usual way, which have the same bits"),
    kernel("several rows: rows shorter than a pair are taken, too", SHORT_ROWS, "n_ < Row::width || ", "", SHORT,
        "suite at full scale: several rows"),
    kernel("several rows: the last ones, fewer than a group, are not written", SHORT_ROWS, "if (here > 0)",
        "if (here == S)", SHORT, "suite at full scale: several rows"),
    kernel("several rows: a group that was summed and does not fit is taken for untouched", SHORT_ROWS,
        "then > 0 && adds ? then : 0", "0", SHORT, "suite at full scale: several rows"),
    kernel("several rows: of the last ones, fewer than a group, a whole group is taken for summed", SHORT_ROWS,
        "then > 0 && adds ? then : 0", "then > 0 && adds ? S : 0", SHORT, "suite at full scale: several rows"),
    kernel("several rows: a group before one that does not fit is not written", SHORT_ROWS, "if (here > 0)",
        "if (here > 0 && (fits || then == 0))", SHORT, "suite at full scale: several rows"),
    kernel("several rows: a group is scaled by what the next one needs", SHORT_ROWS, "scales[(next / S - 1) & 1]",
        "scales[next / S & 1]", SHORT, "suite at full scale: several rows"),
    kernel("several rows: LayerNorm's second pass's mean is left out", SHORT_ROWS,
        "row.delta = VF(scales.delta[j]);", "", SHORT, "suite at full scale: several rows"),
    kernel("several rows: each one is written from the residual's row, but not at its stride", SHORT_ROWS,
        "row.advance(from_.stride,", "row.advance(at_.x.stride,", SHORT, "suite at full scale: several rows"),
    kernel("several rows: the sums of two in each other's place", "kernels/simd_avx2.hpp",
        "_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xdd)",
        "_mm256_shuffle_ps(b, a, 0x88), _mm256_shuffle_ps(b, a, 0xdd)", SHORT, "suite at full scale: several rows"),
    kernel("several rows: a sum's tree begins with neighbours", "kernels/simd_avx2.hpp",
        "_mm256_permute2f128_ps(v[r], v[r + 4], 0x20), _mm256_permute2f128_ps(v[r], v[r + 4], 0x31)",
        "_mm256_permute2f128_ps(_mm256_permute_ps(v[r], 0xb1), v[r + 4], 0x20), "
        "_mm256_permute2f128_ps(v[r], v[r + 4], 0x31)", SHORT, "suite at full scale: several rows"),
    kernel("f64 rows: gain and bias fused", "kernels/elements.hpp", "VD a, VD b, VD c) { return a * b + c; }",
        "VD a, VD b, VD c) { return xsimd::fma(a, b, c); }", "avx2/apply_f64", "hashes"),
    kernel("f32 rows: gain and bias not fused", "kernels/apply.hpp", "{multiply_add(t.a, g.a, s.a), multiply_add",
        "{t.a * g.a + s.a, multiply_add", "sse2/apply_f32", "hashes"),
    kernel("bf16: ties away from zero, not to even", "kernels/elements.hpp", "u + VU(0x7fff) + ((u >> 16) & VU(1))",
        "u + VU(0x8000)", "avx2/apply_bf16", "hashes"),
    kernel("rows for memory: the halves of a pair in each other's place", "kernels/apply.hpp", "Y::stream(y + i, v);",
        "Y::stream(y + i, {v.b, v.a});", "avx512/apply_f64 avx2/apply_f64", "suite at full scale: same bits"),
    kernel("a prefetch that stores", "kernels/apply.hpp",
        "__builtin_prefetch(row + i * int64_t(sizeof(typename X::value)) + byte, 0, locality);",
        "const_cast<volatile char *>(row)[i * int64_t(sizeof(typename X::value)) + byte] = 0;",
        "avx512/apply_f64 avx2/apply_f64", "suite at full scale: same bits"),
]

MUTATIONS = FORMULAS + HOST + LAYOUT + KERNELS
