// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include "arguments.hpp"

#include <doctest/doctest.h>

#include <thread>

namespace rownorm_test {
namespace {

int run_backwards(void *, std::size_t tasks, rownorm_task_fn task, void *context) {
    for (std::size_t i = tasks; i-- > 0;)
        task(context, i);
    return 0;
}

int run_at_once(void *, std::size_t tasks, rownorm_task_fn task, void *context) {
    std::vector<std::thread> threads;
    threads.reserve(tasks);
    for (std::size_t i = 0; i < tasks; ++i)
        threads.emplace_back(task, context, i);
    for (std::thread &thread : threads)
        thread.join();
    return 0;
}

rownorm_status run_parts(const rownorm_plan *plan, const rownorm_io &io, std::int64_t parts) {
    rownorm_status worst = ROWNORM_OK;
    for (std::int64_t part = parts; part-- > 0;)
        if (const rownorm_status status = rownorm_execute_part(plan, &io, part, parts); status != ROWNORM_OK)
            worst = status;
    return worst;
}

rownorm_status run_parts_at_once(const rownorm_plan *plan, const rownorm_io &io, std::int64_t parts) {
    std::vector<rownorm_status> statuses(static_cast<std::size_t>(parts));
    std::vector<std::thread> threads;
    threads.reserve(statuses.size());
    for (std::int64_t part = 0; part < parts; ++part)
        threads.emplace_back(
            [&, part] { statuses[static_cast<std::size_t>(part)] = rownorm_execute_part(plan, &io, part, parts); });
    rownorm_status worst = ROWNORM_OK;
    for (std::size_t i = 0; i < threads.size(); ++i) {
        threads[i].join();
        worst = statuses[i] != ROWNORM_OK ? statuses[i] : worst;
    }
    return worst;
}

/// The plan in malloc's memory or in ours.
rownorm_status execute(const rownorm_descriptor &d, const rownorm_io &io, const Setup &setup) {
    if (!setup.caller_memory) {
        const Plan plan(d);
        return plan.status() != ROWNORM_OK ? plan.status() : run_plan(plan, io, setup.how, setup.parts);
    }
    std::vector<std::max_align_t> memory(rownorm_plan_size() / sizeof(std::max_align_t) + 1);
    rownorm_plan *plan = nullptr;
    const rownorm_status status = rownorm_plan_init(&plan, memory.data(), memory.size() * sizeof(std::max_align_t), &d);
    return status != ROWNORM_OK ? status : run_plan(plan, io, setup.how, setup.parts);
}

} // namespace

rownorm_status run_plan(const rownorm_plan *plan, const rownorm_io &io, How how, std::int64_t parts) {
    switch (how) {
    case How::execute:
        return rownorm_execute(plan, &io);
    case How::parts:
        return run_parts(plan, io, parts);
    case How::parts_at_once:
        return run_parts_at_once(plan, io, parts);
    case How::executor:
        return rownorm_execute_on(plan, &io, run_backwards, nullptr);
    default:
        return rownorm_execute_on(plan, &io, run_at_once, nullptr);
    }
}

void report(const Case &c, const Setup &setup, const std::string &fault) {
    static thread_local std::pair<const void *, int> faults{nullptr, 0};
    const void *const test = doctest::getContextOptions()->currentTest;
    faults = faults.first == test ? std::pair{test, faults.second + 1} : std::pair{test, 1};
    const std::string text = fault + "\n  " + describe(c) + "\n  " + describe(setup);
    if (faults.second < 10)
        FAIL_CHECK(text);
    else
        FAIL(text << "\n  (ten faults: the rest of this test case is left out)");
}

Outputs run(const Case &c, const Inputs &in, const Setup &setup) {
    Arguments arguments(c, in, setup);
    rownorm_descriptor d = descriptor_of(c);
    d.isa = setup.isa;
    d.max_threads = setup.threads;
    const rownorm_io io = arguments.io();
    if (const rownorm_status status = execute(d, io, setup); status != ROWNORM_OK) {
        report(c, setup, std::string(rownorm_status_name(status)) + ": " + rownorm_last_error());
        return {};
    }
    if (const std::string damage = arguments.damage(); !damage.empty()) {
        report(c, setup, damage);
        return {};
    }
    return arguments.outputs();
}

Checked check(const Case &c, const Inputs &in, const Setup &setup) {
    Checked checked;
    for (const std::string &isa : isas()) {
        Setup here = setup;
        here.isa = isa.c_str();
        Outputs out = run(c, in, here);
        if (out.y.empty())
            continue;
        if (!checked.outputs.y.empty()) {
            if (const std::string text = difference(c, checked.outputs, out); !text.empty())
                report(c, here, "other bits than on " + isas().front() + ": " + text);
            continue;
        }
        const Verdict verdict = compare_to_reference(c, in, out);
        if (!verdict.fault.empty())
            report(c, here, verdict.fault);
        checked = {std::move(out), verdict.worst_ulp, verdict.worst_term};
    }
    CHECK(!checked.outputs.y.empty()); // some ISA ran
    return checked;
}

Checked check(const Case &c, const Setup &setup) { return check(c, make_inputs(c), setup); }

namespace {

/// False if it did not run.
bool has_same_bits(const Case &c, const Inputs &in, const Setup &setup, const Outputs &expected) {
    const Outputs out = run(c, in, setup);
    if (out.y.empty())
        return false;
    // What this setup does not ask for is not compared.
    Outputs asked = expected;
    if (out.residual_out.empty())
        asked.residual_out.clear();
    if (out.rstd.empty())
        asked.rstd.clear();
    if (out.mean.empty())
        asked.mean.clear();
    if (const std::string text = difference(c, asked, out); !text.empty())
        report(c, setup, text);
    return true;
}

} // namespace

void check_same_bits(const Case &c, const Inputs &in, const Setup &setup, const Outputs &expected) {
    Setup here = setup;
    here.isa = nullptr; // a default plan may take the kernels of several
    CHECK(has_same_bits(c, in, here, expected));
    for (const std::string &isa : isas()) {
        here.isa = isa.c_str();
        CHECK(has_same_bits(c, in, here, expected));
    }
}

} // namespace rownorm_test
