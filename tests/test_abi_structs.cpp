// SPDX-License-Identifier: Apache-2.0
//
// Structs of other versions: struct_size says how much the caller has. Newer ones are taken while what
// they add is zero; nothing beyond struct_size is ever read.
#include "memory.hpp"
#include "scene.hpp"

using namespace rownorm_test;

namespace {

/// A struct followed by `extra` bytes, right before a page that faults: reading on is noticed.
template <class Struct>
class Versioned {
public:
    Versioned(const Struct &value, std::size_t size)
        : memory_(std::max<std::size_t>((size + 7) / 8 * 8, 8), Guard::page_after) {
        std::memset(memory_.data(), 0, memory_.size());
        std::memcpy(memory_.data(), &value, std::min(memory_.size(), sizeof value));
        get()->struct_size = static_cast<std::uint32_t>(size);
    }
    Struct *get() { return reinterpret_cast<Struct *>(memory_.data()); }
    void set_byte(std::size_t at) { memory_.data()[at] = std::byte{1}; }

private:
    Memory memory_;
};

rownorm_status create(const rownorm_descriptor *d) {
    rownorm_plan *plan = nullptr;
    const rownorm_status status = rownorm_plan_create(&plan, d);
    CHECK((status == ROWNORM_OK) == (plan != nullptr));
    rownorm_plan_destroy(plan);
    return status;
}

} // namespace

TEST_SUITE("ABI: struct sizes") {
    TEST_CASE("descriptor") {
        const Scene scene;
        constexpr std::size_t size = sizeof(rownorm_descriptor);
        for (const std::size_t extra : {0U, 8U, 64U, 1000U}) {
            Versioned<rownorm_descriptor> same(scene.d, size + extra);
            CHECK(create(same.get()) == ROWNORM_OK);
            for (const std::size_t at : {size, size + extra / 2, size + extra - 1})
                if (extra != 0) {
                    Versioned<rownorm_descriptor> newer(scene.d, size + extra);
                    newer.set_byte(at);
                    CHECK(create(newer.get()) == ROWNORM_INVALID_ARGUMENT);
                    CHECK(message_lacks({"descriptor", "struct_size", std::to_string(size + extra)}) == "");
                }
        }
        for (const std::size_t wrong : {std::size_t{0}, std::size_t{3}, std::size_t{4}, size - 8, size - 1}) {
            Versioned<rownorm_descriptor> older(scene.d, wrong);
            CHECK(create(older.get()) == ROWNORM_INVALID_ARGUMENT);
            CHECK(message_lacks({"struct_size", std::to_string(wrong), std::to_string(size)}) == "");
        }
        for (const std::uint32_t garbage : {0xffffffffU, 0x80000000U, 1U << 20}) {
            Versioned<rownorm_descriptor> odd(scene.d, size);
            odd.get()->struct_size = garbage; // the bytes it promises are not there
            CHECK(create(odd.get()) == ROWNORM_INVALID_ARGUMENT);
            CHECK(message_lacks({"struct_size", std::to_string(garbage)}) == "");
        }
    }

    TEST_CASE("io") {
        Scene scene;
        const Plan plan(scene.d);
        constexpr std::size_t size = sizeof(rownorm_io);
        const auto execute = [&](Versioned<rownorm_io> &io) {
            const std::vector<unsigned char> before = scene.bytes;
            const rownorm_status status = rownorm_execute(plan, io.get());
            CHECK(rownorm_execute_part(plan, io.get(), 0, 1) == status);
            CHECK(rownorm_execute_on(plan, io.get(), run_each, nullptr) == status);
            CHECK((scene.bytes == before) == (status != ROWNORM_OK));
            std::fill(scene.bytes.begin(), scene.bytes.end(), static_cast<unsigned char>(0x11));
            return status;
        };
        for (const std::size_t extra : {0U, 8U, 64U}) {
            Versioned<rownorm_io> io(scene.io, size + extra);
            CHECK(execute(io) == ROWNORM_OK);
            if (extra != 0) {
                io.set_byte(size + extra - 1);
                CHECK(execute(io) == ROWNORM_INVALID_ARGUMENT);
                CHECK(message_lacks({"io", "struct_size", std::to_string(size + extra)}) == "");
            }
        }
        for (const std::size_t wrong : {std::size_t{0}, std::size_t{3}, size - 8}) {
            Versioned<rownorm_io> io(scene.io, wrong);
            CHECK(execute(io) == ROWNORM_INVALID_ARGUMENT);
            CHECK(message_lacks({"io", "struct_size", std::to_string(wrong)}) == "");
        }
        Versioned<rownorm_io> io(scene.io, size);
        io.get()->struct_size = 0xffffffffU;
        CHECK(execute(io) == ROWNORM_INVALID_ARGUMENT);
    }

    TEST_CASE("the layout of the first release") {
        CHECK(sizeof(rownorm_descriptor) == 96);
        CHECK(offsetof(rownorm_descriptor, n) == 40);
        CHECK(offsetof(rownorm_descriptor, max_isa) == 88);
        CHECK(sizeof(rownorm_input) == 32);
        CHECK(sizeof(rownorm_output) == 32);
        CHECK(sizeof(rownorm_io) == 240);
        CHECK(offsetof(rownorm_io, x) == 32);
        CHECK(offsetof(rownorm_io, mean) == 224);
    }
}
