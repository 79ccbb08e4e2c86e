// SPDX-License-Identifier: Apache-2.0
//
// rownorm_allocations: what promises to allocate nothing does not. Counts every call of malloc and its
// relatives in this process, the library's included, by taking their names.
#include <rownorm/rownorm.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

// NOLINTBEGIN(bugprone-reserved-identifier): the names under which glibc keeps its own
extern "C" {
void *__libc_malloc(std::size_t);
void *__libc_calloc(std::size_t, std::size_t);
void *__libc_realloc(void *, std::size_t);
void *__libc_memalign(std::size_t, std::size_t);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace {
std::atomic<long> allocations{0};
}

#pragma GCC visibility push(default) // for all libraries of the process

extern "C" void *malloc(std::size_t size) {
    ++allocations;
    return __libc_malloc(size);
}
extern "C" void *calloc(std::size_t count, std::size_t size) {
    ++allocations;
    return __libc_calloc(count, size);
}
extern "C" void *realloc(void *memory, std::size_t size) {
    ++allocations;
    return __libc_realloc(memory, size);
}
extern "C" void *memalign(std::size_t alignment, std::size_t size) {
    ++allocations;
    return __libc_memalign(alignment, size);
}
extern "C" void *aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
extern "C" int posix_memalign(void **memory, std::size_t alignment, std::size_t size) {
    *memory = memalign(alignment, size);
    return *memory == nullptr ? 12 : 0; // ENOMEM
}

#pragma GCC visibility pop

namespace {

constexpr std::int64_t n = 1024, rows = 1000; // large: execute_part stays on the calling thread all the same
int faults = 0;

/// Runs and expects ROWNORM_OK without an allocation.
template <class Function>
void expect_none(const char *what, Function function) {
    const long before = allocations;
    const rownorm_status status = function();
    const long made = allocations - before;
    if (status == ROWNORM_OK && made == 0)
        return;
    std::printf("%s: %s, %ld allocations\n", what, rownorm_status_name(status), made);
    ++faults;
}

rownorm_descriptor descriptor(rownorm_op op, rownorm_type residual_type) {
    rownorm_descriptor d = {};
    d.struct_size = sizeof d;
    d.op = op;
    d.x_type = ROWNORM_F32;
    d.residual_type = residual_type;
    d.n = n;
    d.eps = 1e-5;
    return d;
}

void check_plans(const std::vector<float> &x, std::vector<float> &y) {
    std::vector<std::max_align_t> memory(rownorm_plan_size() / sizeof(std::max_align_t) + 1);
    const std::vector<std::uint16_t> residual(x.size());
    for (const rownorm_op op : {ROWNORM_RMS_NORM, ROWNORM_LAYER_NORM, ROWNORM_L2_NORM})
        for (const rownorm_type type : {ROWNORM_F32, ROWNORM_BF16}) {
            const rownorm_descriptor d = descriptor(op, type);
            rownorm_plan *plan = nullptr;
            expect_none("rownorm_plan_init", [&] {
                return rownorm_plan_init(&plan, memory.data(), memory.size() * sizeof(std::max_align_t), &d);
            });
            rownorm_io io = rownorm_dense_io(&d, rows);
            io.x.data = x.data();
            io.y.data = y.data();
            if (type == ROWNORM_BF16)
                io.residual.data = residual.data();
            expect_none("rownorm_execute_part", [&] { return rownorm_execute_part(plan, &io, 0, 1); });
            expect_none("rownorm_execute_part, half", [&] { return rownorm_execute_part(plan, &io, 1, 2); });
        }
}

} // namespace

int main() {
    const long before = allocations;
    std::vector<float> x(static_cast<std::size_t>(rows * n), 2.0F), y(x.size());
    const rownorm_descriptor d = descriptor(ROWNORM_RMS_NORM, ROWNORM_F32);
    const long of_host = allocations;
    rownorm_plan *plan = nullptr;
    const rownorm_status status = rownorm_plan_create(&plan, &d);
    rownorm_plan_destroy(plan);
    if (of_host == before || allocations == of_host || status != ROWNORM_OK) {
        std::printf("allocations are not seen\n");
        return 1;
    }
    check_plans(x, y);
    expect_none("a small one-line call", [&] { return rownorm_rms_norm_f32(y.data(), x.data(), nullptr, 4, 128, 0); });
    expect_none("a refused call", [&] {
        const rownorm_status status = rownorm_rms_norm_f32(nullptr, x.data(), nullptr, 4, 128, 0);
        return status == ROWNORM_INVALID_ARGUMENT ? ROWNORM_OK : ROWNORM_UNSUPPORTED;
    });
    std::printf(faults == 0 ? "no allocations\n" : "%d faults\n", faults);
    return faults;
}
