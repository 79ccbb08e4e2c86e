// SPDX-License-Identifier: Apache-2.0
//
// Which rows the kernels of a lower ISA serve: a choice that shows in no result, only in the time.
#include "dispatch.hpp"

#include <doctest/doctest.h>

using namespace rownorm;

namespace {

constexpr KernelTable wide{}, lower{};

Isa with(Narrow narrow) { return {"an ISA", &wide, &lower, narrow, nullptr}; }

RowKind row(Type type, std::int64_t n) { return {type, type, type, n, false, false}; }
RowKind added(RowKind kind) {
    kind.adds = true;
    return kind;
}
RowKind centred(RowKind kind) {
    kind.centred = true;
    return kind;
}
RowKind streamed(RowKind kind) {
    kind.streamed = true;
    return kind;
}
RowKind unpaced(RowKind kind) {
    kind.unpaced = true;
    return streamed(kind);
}
RowKind alone(RowKind kind) {
    kind.alone = true;
    return kind;
}
RowKind to(Type y, RowKind kind) {
    kind.y = y;
    return kind;
}
RowKind by(Type weight, RowKind kind) {
    kind.weight = weight;
    return kind;
}

bool is_narrow(Narrow narrow, const RowKind &kind) { return &with(narrow).kernels_for(kind) == &lower; }

} // namespace

TEST_SUITE("the kernels of a lower ISA") {
    TEST_CASE("serve nothing where wide vectors are as fast as any") {
        for (const Type type : {kF32, kF16, kBf16, kF64})
            for (const std::int64_t n : {100, 128, 504, 100000})
                CHECK(!is_narrow(Narrow::never, streamed(row(type, n))));
    }

    TEST_CASE("serve f32 and f64 rows where loads and stores are done by halves of a line") {
        const auto serve = [](const RowKind &kind) { return is_narrow(Narrow::f32_moves, kind); };
        const std::int64_t leaves_l1 = machine().l1 / 8 > 1025 ? machine().l1 / 8 : 1025;

        CHECK(serve(streamed(row(kF64, 4096))));
        CHECK(serve(streamed(added(row(kF64, 4096)))));
        CHECK(serve(streamed(centred(row(kF32, 512)))));
        CHECK(!serve(streamed(added(row(kF32, 512)))));
        CHECK(!serve(streamed(row(kBf16, 4096))));
        CHECK(!serve(streamed(row(kF16, 4096))));

        CHECK(serve(row(kF32, leaves_l1)));
        CHECK(!serve(row(kF32, leaves_l1 - 1)));
        CHECK(!serve(row(kF32, 1024)));
        CHECK(!serve(centred(row(kF32, leaves_l1))));
        CHECK(!serve(row(kF64, leaves_l1)));
        CHECK(!serve(to(kBf16, row(kF32, leaves_l1))));
        CHECK(!serve(by(kBf16, row(kF32, leaves_l1))));

        // Short ones, but for a single one, that do not all begin on a line.
        CHECK(serve(row(kF32, 504)));
        CHECK(serve(added(row(kF32, 129))));
        CHECK(!serve(row(kF32, 512)));
        CHECK(!serve(row(kF32, 496)));
        CHECK(!serve(row(kF32, 127)));
        CHECK(!serve(row(kF32, 513)));
        CHECK(!serve(alone(row(kF32, 504))));
        CHECK(!serve(centred(row(kF32, 504))));
        CHECK(!serve(row(kBf16, 504)));
    }

    TEST_CASE("serve all but bf16 and LayerNorm where wide vectors are done by halves") {
        const auto serve = [](const RowKind &kind) { return is_narrow(Narrow::mostly, kind); };

        for (const Type type : {kF32, kF16, kF64})
            CHECK(serve(row(type, 4096)));
        CHECK(serve(added(row(kF32, 4096))));
        CHECK(serve(centred(row(kF16, 4096))));
        CHECK(serve(centred(row(kF32, 504))));
        CHECK(serve(centred(row(kF64, 500))));
        CHECK(!serve(centred(row(kF32, 4096))));
        CHECK(!serve(centred(row(kF64, 4096))));

        CHECK(!serve(row(kBf16, 4096)));
        CHECK(!serve(row(kBf16, 504)));
        CHECK(!serve(by(kF32, row(kBf16, 4096))));
        CHECK(!serve(to(kBf16, row(kF32, 4096))));
        CHECK(!serve(streamed(to(kBf16, row(kF32, 4096)))));
        CHECK(serve(unpaced(to(kBf16, row(kF32, 4096)))));
        CHECK(!serve(unpaced(added(to(kBf16, row(kF32, 4096))))));
        CHECK(!serve(unpaced(centred(to(kBf16, row(kF32, 4096))))));
        CHECK(!serve(unpaced(row(kBf16, 4096))));
    }
}
