// SPDX-License-Identifier: Apache-2.0
//
// Known faults in memory: reads and writes past a row, statistics kept by column, offsets in 32 bits.
#include "known_faults.hpp"
#include "random.hpp"

#include <cstring>
#include <sys/mman.h>

using namespace rownorm_test;

namespace {

Case full(const Mix &mix, std::int64_t rows, std::int64_t n, int formula) {
    Case c;
    c.mix = mix;
    c.rows = rows;
    c.n = n;
    set_formula(c, formula);
    c.gain = c.bias = c.residual = true;
    c.eps = 1e-5;
    c.seed = static_cast<std::uint64_t>(n);
    return c;
}

Setup guarded(Guard guard) {
    Setup setup;
    for (Placement *p : {&setup.x, &setup.residual, &setup.w, &setup.b, &setup.residual_out, &setup.y})
        p->guard = guard;
    setup.read_only = true;
    return setup;
}

/// Address space without memory behind it until it is touched.
class Reserved {
public:
    explicit Reserved(std::size_t bytes) : bytes_(bytes) {
        void *const at =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        data_ = at == MAP_FAILED ? nullptr : static_cast<std::byte *>(at);
    }
    ~Reserved() {
        if (data_ != nullptr)
            munmap(data_, bytes_);
    }
    Reserved(const Reserved &) = delete;
    Reserved &operator=(const Reserved &) = delete;
    std::byte *data() const { return data_; }

private:
    std::size_t bytes_;
    std::byte *data_;
};

} // namespace

TEST_SUITE("known faults") {
    TEST_CASE("every argument ends, or begins, at a page that faults; inputs in read-only pages") {
        std::uint64_t member = 0;
        for (const Mix &mix : main_mixes())
            for (std::int64_t n = 1; n <= 130; ++n)
                for (int formula = 0; formula < formulas; ++formula) {
                    if ((++member % 3 != 0 && formula > 3) || !kept(member))
                        continue;
                    const Case c = full(mix, n % 4 + 1, n, formula);
                    const Inputs in = make_inputs(c);
                    const Outputs expected = check(c, in).outputs;
                    for (const Guard guard : {Guard::page_after, Guard::page_before})
                        check_same_bits(c, in, guarded(guard), expected);
                }
    }

    TEST_CASE("the same for long rows and for batches of short ones") {
        for (const Mix &mix : main_mixes())
            for (const std::int64_t n : {255, 257, 1023, 1025, 4099})
                for (const int formula : {0, 2}) {
                    const Case c = full(mix, n < 300 ? 33 : 2, n, formula);
                    const Inputs in = make_inputs(c);
                    const Outputs expected = check(c, in).outputs;
                    for (const Guard guard : {Guard::page_after, Guard::page_before})
                        check_same_bits(c, in, guarded(guard), expected);
                }
    }

    TEST_CASE("one row or two: the same bits for the first") {
        for (const Mix &mix : main_mixes())
            for (std::int64_t n = 1; n <= 70; ++n)
                for (const int formula : {0, 2}) {
                    if (!kept(static_cast<std::uint64_t>(n)))
                        continue;
                    const Case two = full(mix, 2, n, formula);
                    Case one = two;
                    one.rows = 1;
                    const Inputs both = make_inputs(two);
                    const auto half = [](std::vector<std::byte> v) {
                        v.resize(v.size() / 2);
                        return v;
                    };
                    const Inputs first{half(both.x), half(both.residual), both.w, both.b};
                    const Outputs whole = check(two, both).outputs;
                    const Outputs expected{half(whole.y), half(whole.residual_out), half(whole.mean), half(whole.rstd)};
                    check_same_bits(one, first, {}, expected);
                }
    }

    TEST_CASE("three rows, 2^30 + 16 elements apart, in place") {
        for (const rownorm_type type : {ROWNORM_F32, ROWNORM_F16}) {
            const std::int64_t stride = ((INT64_C(1) << 30) + 16) * static_cast<std::int64_t>(size_of(type));
            const Reserved memory(static_cast<std::size_t>(2 * stride + 4096));
            if (memory.data() == nullptr) {
                MESSAGE("no address space for this test");
                continue;
            }
            Case c;
            c.mix = all_of(type);
            c.n = 16;
            c.eps = 0;
            const rownorm_descriptor d = descriptor_of(c);
            rownorm_io io = rownorm_dense_io(&d, 3);
            io.x.data = io.y.data = memory.data();
            io.x.stride_bytes[2] = io.y.stride_bytes[2] = stride;
            for (int row = 0; row < 3; ++row) {
                const std::vector<std::byte> values = elements(type, Values(16, row + 1));
                std::memcpy(memory.data() + row * stride, values.data(), values.size());
            }
            const Plan plan(d);
            REQUIRE(rownorm_execute(plan, &io) == ROWNORM_OK);
            const std::vector<std::byte> ones = elements(type, Values(16, 1));
            for (int row = 0; row < 3; ++row)
                CHECK(std::memcmp(memory.data() + row * stride, ones.data(), ones.size()) == 0);
        }
    }

    TEST_CASE("the last of 524,289 rows of 4,096: past 2^31 elements and 2^32 bytes") {
        constexpr std::int64_t rows = 524289, n = 4096;
        const Reserved memory(static_cast<std::size_t>(rows * n * 2));
        if (memory.data() == nullptr) {
            MESSAGE("no address space for this test");
            return;
        }
        Case c;
        c.mix = all_of(ROWNORM_F16);
        c.n = n;
        c.eps = 0;
        const rownorm_descriptor d = descriptor_of(c);
        rownorm_io io = rownorm_dense_io(&d, rows);
        io.x.data = io.y.data = memory.data();
        const std::vector<std::byte> sevens = elements(ROWNORM_F16, Values(n, 7)),
                                     ones = elements(ROWNORM_F16, Values(n, 1));
        const Plan plan(d);
        for (const std::int64_t row : {rows - 2, rows - 1}) {
            std::memcpy(memory.data() + row * n * 2, sevens.data(), sevens.size());
            REQUIRE(rownorm_execute_part(plan, &io, row, rows) == ROWNORM_OK); // one row a part
            CHECK(std::memcmp(memory.data() + row * n * 2, ones.data(), ones.size()) == 0);
        }
        // Nothing between them and the beginning was touched.
        CHECK(memory.data()[0] == std::byte{0});
        CHECK(memory.data()[(rows - 3) * n * 2] == std::byte{0});
    }
}
