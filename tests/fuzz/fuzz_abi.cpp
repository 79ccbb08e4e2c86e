// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: the C ABI with random descriptors, shapes, strides and aliasing in a small block of memory. A call
// must be refused if, and only if, the rules refuse it, and then write nothing; else it must give the bits of
// dense rows taken one by one, within the documented bound of the reference, and write nothing but its outputs.
#include "../compare.hpp"
#include "../reference.hpp"
#include "../setup.hpp"
#include "abi_call.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

using namespace fuzz;
using namespace rownorm_test;

namespace {

[[noreturn]] void finding(const Call &call, const std::string &what) {
    std::fprintf(stderr, "FINDING: %s\n  %s\n  last error: %s\n", what.c_str(), describe(call).c_str(),
                 rownorm_last_error());
    std::abort();
}

class Plan {
public:
    explicit Plan(const rownorm_descriptor *d) : status(rownorm_plan_create(&plan_, d)) {}
    ~Plan() { rownorm_plan_destroy(plan_); }
    Plan(const Plan &) = delete;
    Plan &operator=(const Plan &) = delete;
    operator const rownorm_plan *() const { return plan_; }

private:
    rownorm_plan *plan_ = nullptr;

public:
    const rownorm_status status;
};

int run_backwards(void *, std::size_t tasks, rownorm_task_fn task, void *context) {
    for (std::size_t i = tasks; i-- > 0;)
        task(context, i);
    return 0;
}

rownorm_status run_parts(const rownorm_plan *plan, const rownorm_io &io, std::int64_t parts) {
    rownorm_status worst = ROWNORM_OK;
    for (std::int64_t part = parts; part-- > 0;)
        worst = std::max(worst, rownorm_execute_part(plan, &io, part, parts));
    return worst;
}

template <class T, class Rms, class Add, class Layer>
rownorm_status one_line(const rownorm_descriptor &d, const rownorm_io &io, Rms rms, Add add, Layer layer) {
    const auto eps = static_cast<float>(d.eps);
    T *const y = static_cast<T *>(io.y.data), *const sum = static_cast<T *>(io.residual_out.data);
    const T *const x = static_cast<const T *>(io.x.data), *const w = static_cast<const T *>(io.w.data);
    if (d.op == ROWNORM_LAYER_NORM)
        return layer(y, x, w, static_cast<const T *>(io.b.data), io.extent[2], d.n, eps);
    return sum != nullptr ? add(y, sum, x, w, io.extent[2], d.n, eps) : rms(y, x, w, io.extent[2], d.n, eps);
}

rownorm_status run_one_line(const rownorm_descriptor &d, const rownorm_io &io) {
    if (d.x_type == ROWNORM_F32)
        return one_line<float>(d, io, rownorm_rms_norm_f32, rownorm_add_rms_norm_f32, rownorm_layer_norm_f32);
    if (d.x_type == ROWNORM_F16)
        return one_line<std::uint16_t>(d, io, rownorm_rms_norm_f16, rownorm_add_rms_norm_f16, rownorm_layer_norm_f16);
    return one_line<std::uint16_t>(d, io, rownorm_rms_norm_bf16, rownorm_add_rms_norm_bf16, rownorm_layer_norm_bf16);
}

/// With the plan made; the io as the caller's version of the struct has it.
rownorm_status run(const Call &call, const rownorm_plan *plan, const Sized<rownorm_io> &io) {
    switch (call.way) {
    case Way::execute:
        return rownorm_execute(plan, &io.value);
    case Way::parts:
        return run_parts(plan, io.value, call.parts);
    case Way::executor:
        return rownorm_execute_on(plan, &io.value, run_backwards, nullptr);
    default:
        return run_one_line(call.descriptor.value, io.value);
    }
}

/// Dense rows, taken out of a block.
std::vector<std::byte> gather(const std::optional<Argument> &a, const Extent &extent, const std::byte *block) {
    std::vector<std::byte> dense;
    if (a)
        for (const std::int64_t at : a->rows(extent))
            dense.insert(dense.end(), block + at, block + at + a->row_bytes);
    return dense;
}

std::vector<std::byte> part(const std::vector<std::byte> &all, std::int64_t row, std::int64_t rows) {
    const auto bytes = static_cast<std::ptrdiff_t>(all.size()) / rows;
    return {all.begin() + row * bytes, all.begin() + (row + 1) * bytes};
}

void append(std::vector<std::byte> &to, const std::vector<std::byte> &more) {
    to.insert(to.end(), more.begin(), more.end());
}

/// t as it is before the gain.
long double stored(const Case &c, long double t) {
    const long double in_arithmetic = round_to(statistic_type(c), t);
    return c.round == ROWNORM_ROUND_ONCE
               ? in_arithmetic
               : round_to(c.round == ROWNORM_ROUND_TO_F16 ? ROWNORM_F16 : ROWNORM_BF16, in_arithmetic);
}

/// Whether a step in between leaves the range of its type (only the first elements of a row are in the statistic of
/// pRMSNorm, and a gain is any number): the formula then gives an infinity, or NaN for 0 times an infinite gain,
/// where the reference, which has a wider range, has a number.
bool leaves_range_between(const Case &c, const Inputs &in) {
    const ReferenceRow row = reference_row(c, in.x.data(), c.residual ? in.residual.data() : nullptr);
    const long double most = largest(statistic_type(c));
    bool leaves = std::isfinite(row.rstd) && row.rstd > most;
    for (std::size_t i = 0; i < row.t.size(); ++i) {
        const long double w =
            c.gain ? offset_weight(c, load(c.mix.weight, in.w.data() + i * size_of(c.mix.weight))) : 1;
        const long double t = row.t[i], before_gain = stored(c, t);
        leaves |= std::isfinite(t) && !std::isfinite(before_gain);
        leaves |= std::isinf(w) && t != 0 && before_gain == 0;
        leaves |= std::isfinite(t * w) && std::fabs(t * w) > most;
    }
    return leaves;
}

/// Not so under valgrind, whose long double has 64 bits.
bool reference_is_precise() {
    volatile long double one = 1, tiny = 0x1p-60L;
    return one + tiny != one;
}

/// One dense row in memory that ends where it ends.
Outputs run_row(const Call &call, const Case &c, const Inputs &in, bool judged) {
    Outputs out;
    const auto n = static_cast<std::size_t>(c.n);
    out.y.resize(n * size_of(c.mix.y));
    out.residual_out.resize(c.residual ? n * size_of(c.mix.residual) : 0);
    out.rstd.resize(size_of(statistic_type(c)));
    out.mean.resize(c.op == ROWNORM_LAYER_NORM ? out.rstd.size() : 0);
    const auto data = [](auto &v) { return v.empty() ? nullptr : v.data(); };
    rownorm_io io = rownorm_dense_io(&call.descriptor.value, 1);
    io.x.data = in.x.data();
    io.residual.data = data(in.residual);
    io.w.data = data(in.w);
    io.b.data = data(in.b);
    io.y.data = out.y.data();
    io.residual_out.data = data(out.residual_out);
    io.mean = data(out.mean);
    io.rstd = out.rstd.data();
    rownorm_descriptor d = call.descriptor.value;
    d.struct_size = sizeof d;
    const Plan plan(&d);
    if (plan.status != ROWNORM_OK || rownorm_execute_part(plan, &io, 0, 1) != ROWNORM_OK)
        finding(call, "a dense row is refused");
    if (!judged || !reference_is_precise())
        return out;
    if (const Verdict verdict = compare_to_reference(c, in, out);
        !verdict.fault.empty() && !leaves_range_between(c, in))
        finding(call, "against the reference: " + verdict.fault);
    return out;
}

Outputs expected_outputs(const Call &call, const std::byte *block) {
    std::vector<std::byte> dense[6];
    for (std::size_t i = 0; i < 6; ++i)
        dense[i] = gather(call.layout[i], call.extent, block);
    Outputs all;
    const std::int64_t rows = call.rows();
    for (std::int64_t r = 0; r < rows; ++r) {
        const Inputs in{part(dense[0], r, rows), part(dense[2], r, rows), part(dense[4], r, rows),
                        part(dense[5], r, rows)};
        const Outputs row = run_row(call, call.row_case(), in, r < 4); // the reference takes its time
        append(all.y, row.y);
        append(all.residual_out, row.residual_out);
        append(all.mean, row.mean);
        append(all.rstd, row.rstd);
    }
    return all;
}

/// The outputs hold what is expected, and all else is as before.
void check_block(const Call &call, const Outputs &expected, const std::byte *before, std::byte *after) {
    const std::vector<std::byte> *const all[] = {nullptr, &expected.y, nullptr,        &expected.residual_out,
                                                 nullptr, nullptr,     &expected.mean, &expected.rstd};
    for (std::size_t i = 0; i < call.layout.size(); ++i) {
        const auto &a = call.layout[i];
        if (!a || !a->output)
            continue;
        const std::vector<std::byte> found = gather(a, call.extent, after);
        if (const std::string text = difference(a->type, *all[i], found, argument_names[i]); !text.empty())
            finding(call, "other bits than dense rows: " + text);
    }
    for (const auto &a : call.layout)
        for (const std::int64_t at : a && a->output ? a->rows(call.extent) : std::vector<std::int64_t>{})
            std::copy(before + at, before + at + a->row_bytes, after + at);
    if (!std::equal(before, before + block_bytes, after))
        finding(call, "bytes outside the outputs were written");
}

void check_io(Call &call, Bytes &in) {
    const Ruling ruling = rule_io(call);
    if (ruling == Ruling::beyond)
        return;
    const auto block = std::make_unique<std::byte[]>(block_bytes); // on the heap alone: its ends are watched
    const std::vector<std::byte> given = in.bytes(block_bytes);
    for (std::size_t i = 0; i < block_bytes && !given.empty(); ++i)
        block[i] = given[i % given.size()] ^ static_cast<std::byte>(i / given.size() * 4);
    const std::vector<std::byte> before(block.get(), block.get() + block_bytes);
    const bool accepted = ruling == Ruling::accepted && call.rows() > 0;
    const Outputs expected = accepted ? expected_outputs(call, block.get()) : Outputs{};
    Sized<rownorm_io> io = call.io;
    io.value = call.io_in(block.get());
    for (const std::string &isa : isas()) {
        call.descriptor.value.isa = isa.c_str();
        const Plan plan(&call.descriptor.value);
        const rownorm_status status = run(call, plan, io);
        if (status != (ruling == Ruling::accepted ? ROWNORM_OK : ROWNORM_INVALID_ARGUMENT))
            finding(call, std::string(rownorm_status_name(status)) + " on " + isa);
        if (accepted)
            check_block(call, expected, before.data(), block.get());
        else if (!std::equal(before.begin(), before.end(), block.get()))
            finding(call, "a call that does nothing wrote something");
        std::copy(before.begin(), before.end(), block.get());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    Bytes in(data, size);
    Call call(in);
    const Ruling ruling = rule_descriptor(call);
    const Plan plan(&call.descriptor.value);
    if (ruling == Ruling::beyond)
        return 0;
    if ((plan.status == ROWNORM_OK) != (ruling == Ruling::accepted))
        finding(call, std::string("plan: ") + rownorm_status_name(plan.status));
    if (ruling == Ruling::accepted)
        check_io(call, in);
    return 0;
}
