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


def kernel(what, file, text, replacement, objects, *tests):
    return Mutation(what, file, ((text, replacement),), tuple(objects.split()), tests)


FORMULAS = [
    one("RMSNorm: eps outside the root", "root.hpp",
        "const V v = sum / elements + eps;\n    return {v, 1.0 / square_root(v)};",
        "const V v = sum / elements + eps;\n    return {v, 1.0 / (square_root(v - eps) + eps)};",
        "suite: affine"),
    one("the second of two rows takes the factor of the first", "tile.hpp",
        "Root{both.argument[1], both.factor[1]}", "Root{both.argument[1], both.factor[0]}", "suite: affine"),
    one("RMSNorm: a statistic of k elements divided by n", "plan.cpp",
        "plan.elements = Count(plan.k);", "plan.elements = Count(plan.n);", "suite: affine", quick=True),
    one("LayerNorm: the variance without its correction", "root.hpp",
        "(squares - sum * sum / elements) / elements", "squares / elements", "suite: LayerNorm", "suite: lane model"),
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
        "t.mean[r] = t.centre[r] + delta;", "t.mean[r] = t.centre[r];", "suite: lane model"),
    one("rows are redone from 2^-90 on, not 2^-100", "root.hpp", "0x1p-100", "0x1p-90",
        "suite: lane model"),
    one("a sum that overflowed is not noticed", "tile.hpp",
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
    one("rows on the short way run in the caller's floating-point state", "plain_rows.hpp",
        "const DefaultFloatState state;", "", "suite: floating-point state"),
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
        "    if (io.residual.data) {", "    if (false) {", "suite: fused add"),
    one("one row: a residual that is the sum already is added once more", "rows.cpp", "if (last == kUntouched)",
        "if (begin < end)", "suite: one row"),
    one("one row: a bias that RMSNorm has is left out", "rows.cpp", "bool(io.b.data) != needs_bias", "false",
        "suite: one row"),
    one("one row: a statistic of k elements taken of all", "plan.cpp", "!one_type || plan.k != plan.n ||", "!one_type ||",
        "suite: one row"),
    one("one-line calls: one row that is redone is added to the residual once more", "one_line.cpp",
        "return run_rest(call, p, rows);", "return run_small(call, p, rows);", "ctest: attack.guards"),
    one("rows that share one element alone do not overlap", "overlap.cpp",
        "Search search(-b.row_bytes, a.row_bytes);", "Search search(-b.row_bytes + 4, a.row_bytes);",
        "suite: ABI: overlap", "suite: ABI: *"),
    one("plain calls: y may begin at the last element of x", "arguments.cpp",
        "return (a.end <= b.begin) | (b.end <= a.begin);", "return (a.end - 4 <= b.begin) | (b.end - 4 <= a.begin);",
        "suite: ABI: *", quick=True),
    one("plain calls: a residual that is written back may overlap the bias", "arguments.cpp", " && disjoint(r, b)", "",
        "suite: ABI: *"),
    one("one-line calls: the gain may overlap y", "one_line.cpp", " || !apart_or_none(y, all, w, row)", "",
        "suite: one-line calls", "suite: ABI: *"),
    one("one-line calls: the rows behind one that is redone begin at the first again", "one_line.cpp",
        "from(p, done * row)", "p", "ctest: attack.guards"),
    one("one-line calls: a row that is redone is x, not its sum with the residual", "one_line.cpp",
        "p.residual ? p.residual : p.x", "p.x", "ctest: attack.guards"),
    one("unknown fields of a larger struct are not looked at", "sized.hpp", "if (bytes[i])", "if (false)",
        "suite: ABI: struct sizes"),
    one("rows that are not aligned are stored around the caches", "strategy.cpp", "(address | strides) % line == 0",
        "(address | strides) % 4 == 0", "suite at full scale: same bits"),
]

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
        "return is_finite_number(sum) && rownorm::is_large_enough(root.argument, false);",
        "(void)sum;\n    (void)root;\n    return true;", "avx2/one_row", "suite: one row"),
    kernel("one row: LayerNorm's second pass's mean is left out", "kernels/one_row.cpp", "{mean, sum / elements, root.factor}",
        "{mean, 0, root.factor}", "avx2/one_row", "suite: one row"),
    kernel("f64 rows: gain and bias fused", "kernels/elements.hpp", "VD a, VD b, VD c) { return a * b + c; }",
        "VD a, VD b, VD c) { return xsimd::fma(a, b, c); }", "avx2/apply_f64", "hashes"),
    kernel("f32 rows: gain and bias not fused", "kernels/apply.hpp", "{multiply_add(t.a, g.a, s.a), multiply_add",
        "{t.a * g.a + s.a, multiply_add", "sse2/apply_f32", "hashes"),
    kernel("bf16: ties away from zero, not to even", "kernels/elements.hpp", "u + VU(0x7fff) + ((u >> 16) & VU(1))",
        "u + VU(0x8000)", "avx2/apply_bf16", "hashes"),
    kernel("rows for memory: the halves of a pair in each other's place", "kernels/apply.hpp", "Y::stream(y + i, v);",
        "Y::stream(y + i, {v.b, v.a});", "avx512/apply_f64 avx2/apply_f64", "suite at full scale: same bits"),
    kernel("a prefetch that stores", "kernels/apply.hpp",
        "__builtin_prefetch(row + i * int64_t(sizeof(typename X::value)) + byte, 0, 2);",
        "const_cast<volatile char *>(row)[i * int64_t(sizeof(typename X::value)) + byte] = 0;",
        "avx512/apply_f64 avx2/apply_f64", "suite at full scale: same bits"),
]

MUTATIONS = FORMULAS + HOST + LAYOUT + KERNELS
