// SPDX-License-Identifier: Apache-2.0
//
// Runs a case through the C ABI in one of the many ways that must not matter: ISA, way to run, threads,
// placement in memory, aliasing. Everything that a caller may rely on is checked on the way: the
// status, that inputs and gaps are unchanged, that an alias gave what its owner holds.
#pragma once

#include "compare.hpp"
#include "setup.hpp"

#include <string>
#include <vector>

namespace rownorm_test {

/// Runs; a fault (a bad status, a written gap, a changed input) fails the current test case and is
/// returned as empty outputs.
Outputs run(const Case &c, const Inputs &in, const Setup &setup = {});

/// A plan that frees itself.
class Plan {
public:
    explicit Plan(const rownorm_descriptor &d) : status_(rownorm_plan_create(&plan_, &d)) {}
    ~Plan() { rownorm_plan_destroy(plan_); }
    Plan(const Plan &) = delete;
    Plan &operator=(const Plan &) = delete;
    rownorm_status status() const { return status_; }
    operator const rownorm_plan *() const { return plan_; }

private:
    rownorm_plan *plan_ = nullptr;
    rownorm_status status_;
};

/// Runs a prepared plan in one of the ways.
rownorm_status run_plan(const rownorm_plan *plan, const rownorm_io &io, How how, std::int64_t parts);

/// The usual judgement: on every ISA with this setup; the first result against the reference, the
/// others against the first by bits. Returns the first result and its error.
struct Checked {
    Outputs outputs;
    double worst_ulp = 0, worst_term = 0; ///< as in Verdict
};
Checked check(const Case &c, const Inputs &in, const Setup &setup = {});
Checked check(const Case &c, const Setup &setup = {});

/// Runs with this setup on every ISA, and as a default plan chooses, and asks for the bits of `expected`.
void check_same_bits(const Case &c, const Inputs &in, const Setup &setup, const Outputs &expected);

/// Fails the current test case with a line that reproduces it; gives the test case up after ten.
void report(const Case &c, const Setup &setup, const std::string &fault);

} // namespace rownorm_test
