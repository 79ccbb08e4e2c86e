// SPDX-License-Identifier: Apache-2.0
//
// Which ISA runs: the names, an exact one, a cap. What ROWNORM_MAX_ISA does is tested in processes of
// their own (hosts/), because it is read once.
#include "broken.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

using namespace rownorm_test;

namespace {

std::vector<std::string> built() {
    std::vector<std::string> names;
    for (std::size_t i = 0; rownorm_isa_built_name(i) != nullptr; ++i)
        names.emplace_back(rownorm_isa_built_name(i));
    return names;
}

rownorm_descriptor descriptor(const char *isa, const char *max_isa) {
    Case c;
    c.n = 10;
    rownorm_descriptor d = descriptor_of(c);
    d.isa = isa;
    d.max_isa = max_isa;
    return d;
}

#if defined(__x86_64__)
const std::vector<std::string> expected_names = {"avx512bf16", "avx512", "avx2", "sse2"};
const char *const foreign = "neon";
#else
const std::vector<std::string> expected_names = {"neon"};
const char *const foreign = "avx2";
#endif

} // namespace

TEST_SUITE("ISA") {
    TEST_CASE("every ISA of the architecture is built, the baseline always runs") {
        CHECK(built() == expected_names);
        CHECK(rownorm_isa_obstacle(expected_names.back().c_str()) == nullptr);
        CHECK(rownorm_isa_count() >= 1);
        CHECK(rownorm_isa_name(rownorm_isa_count()) == nullptr);
        CHECK(std::string(rownorm_isa_name(rownorm_isa_count() - 1)) == expected_names.back());
        CHECK(rownorm_isa_built_name(SIZE_MAX) == nullptr);
        CHECK(rownorm_isa_name(SIZE_MAX) == nullptr);
    }

    TEST_CASE("runnable ones are those without an obstacle, in the order of the built ones") {
        std::vector<std::string> runnable, named;
        for (const std::string &name : built())
            if (rownorm_isa_obstacle(name.c_str()) == nullptr)
                runnable.push_back(name);
        for (std::size_t i = 0; i < rownorm_isa_count(); ++i)
            named.emplace_back(rownorm_isa_name(i));
        CHECK(named == runnable);
        for (const char *const odd : {foreign, "sse3", "", "AVX2"})
            CHECK(rownorm_isa_obstacle(odd) != nullptr);
        CHECK(rownorm_isa_obstacle(nullptr) != nullptr);
    }

    TEST_CASE("an exact ISA runs, and the plan says so") {
        for (const std::string &name : isas()) {
            const Plan plan(descriptor(name.c_str(), nullptr));
            REQUIRE(plan.status() == ROWNORM_OK);
            CHECK(rownorm_plan_isa(plan) == name);
        }
        const Plan plan(descriptor(nullptr, nullptr));
        CHECK(std::string(rownorm_plan_isa(plan)) == rownorm_isa());
    }

    TEST_CASE("an exact ISA that cannot run here fails, an unknown one too") {
        for (const std::string &name : built())
            if (const char *const obstacle = rownorm_isa_obstacle(name.c_str())) {
                CHECK(Plan(descriptor(name.c_str(), nullptr)).status() == ROWNORM_UNSUPPORTED);
                CHECK(message_lacks({"isa", name, obstacle}) == "");
            }
        CHECK(Plan(descriptor(foreign, nullptr)).status() == ROWNORM_UNSUPPORTED);
        CHECK(message_lacks({"isa", foreign}) == "");
        for (const char *const unknown : {"sse3", "", "AVX2", "avx2 ", "avx5120", "none"}) {
            CHECK(Plan(descriptor(unknown, nullptr)).status() == ROWNORM_INVALID_ARGUMENT);
            CHECK(message_lacks({"isa", unknown, expected_names.back()}) == "");
            CHECK(Plan(descriptor(nullptr, unknown)).status() == ROWNORM_INVALID_ARGUMENT);
            CHECK(message_lacks({"max_isa", unknown, expected_names.back()}) == "");
        }
        const std::string endless(100000, 'x');
        CHECK(Plan(descriptor(endless.c_str(), nullptr)).status() == ROWNORM_INVALID_ARGUMENT);
    }

    TEST_CASE("a cap chooses the best ISA that it allows; one above the machine is no error") {
        for (std::size_t i = 0; i < expected_names.size(); ++i) {
            const Plan plan(descriptor(nullptr, expected_names[i].c_str()));
            REQUIRE(plan.status() == ROWNORM_OK);
            // The first of those that run that is not above the cap.
            std::string best;
            for (std::size_t j = i; j < expected_names.size() && best.empty(); ++j)
                if (std::count(isas().begin(), isas().end(), expected_names[j]) != 0)
                    best = expected_names[j];
            CHECK(rownorm_plan_isa(plan) == best);
        }
        const Plan plan(descriptor(nullptr, foreign));
        CHECK(plan.status() == ROWNORM_OK);
    }

    TEST_CASE("an exact ISA above the cap fails") {
        if (isas().size() < 2)
            return;
        CHECK(Plan(descriptor(isas().front().c_str(), isas().back().c_str())).status() == ROWNORM_UNSUPPORTED);
        CHECK(message_lacks({"isa", isas().front(), isas().back()}) == "");
        CHECK(Plan(descriptor(isas().back().c_str(), isas().front().c_str())).status() == ROWNORM_OK);
    }
}
