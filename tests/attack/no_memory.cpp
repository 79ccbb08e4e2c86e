// SPDX-License-Identifier: Apache-2.0
//
// rownorm_no_memory: in child after child malloc fails from its first, second, ... call on, while the library makes
// a plan and its first large call. The plan is there or ROWNORM_OUT_OF_MEMORY says why not; the call is right all the
// same, on the calling thread if no others can be had. Nothing throws and nothing aborts.
#include "batch.hpp"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

// NOLINTBEGIN(bugprone-reserved-identifier): the names under which glibc keeps its own
extern "C" {
void *__libc_malloc(std::size_t);
void *__libc_calloc(std::size_t, std::size_t);
void *__libc_realloc(void *, std::size_t);
void *__libc_memalign(std::size_t, std::size_t);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace {

std::atomic<long> left{LONG_MAX}; ///< calls that still succeed

bool may_allocate() {
    if (left.fetch_sub(1) > 0)
        return true;
    errno = ENOMEM;
    return false;
}

} // namespace

#pragma GCC visibility push(default) // for all libraries of the process

extern "C" void *malloc(std::size_t size) { return may_allocate() ? __libc_malloc(size) : nullptr; }
extern "C" void *calloc(std::size_t count, std::size_t size) {
    return may_allocate() ? __libc_calloc(count, size) : nullptr;
}
extern "C" void *realloc(void *memory, std::size_t size) {
    return may_allocate() ? __libc_realloc(memory, size) : nullptr;
}
extern "C" void *memalign(std::size_t alignment, std::size_t size) {
    return may_allocate() ? __libc_memalign(alignment, size) : nullptr;
}
extern "C" void *aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
// oneTBB loads its allocator so. It succeeds here: where it fails for want of memory glibc 2.36 crashes by itself, and
// a oneTBB without its allocator ends the process when a worker that starts gets no memory.
extern "C" void *dlopen(const char *path, int flags) {
    const long before = left.exchange(LONG_MAX);
    const auto real = reinterpret_cast<void *(*)(const char *, int)>(dlsym(RTLD_NEXT, "dlopen"));
    void *const library = real(path, flags);
    left = before;
    return library;
}

extern "C" int posix_memalign(void **memory, std::size_t alignment, std::size_t size) {
    *memory = memalign(alignment, size);
    return *memory == nullptr ? ENOMEM : 0;
}

#pragma GCC visibility pop

namespace {

enum Exit { right, wrong, untouched };

Exit child(long succeed) {
    attack::Batch batch(2000, 1024);
    rownorm_descriptor d = {};
    d.struct_size = sizeof d;
    d.op = ROWNORM_LAYER_NORM;
    d.x_type = ROWNORM_F32;
    d.n = 64;
    left = succeed;
    rownorm_plan *plan = nullptr;
    const rownorm_status status = rownorm_plan_create(&plan, &d);
    const bool fair = status == ROWNORM_OK ? plan != nullptr : status == ROWNORM_OUT_OF_MEMORY && plan == nullptr;
    rownorm_plan_destroy(plan);
    const bool good = batch.run() && batch.run();
    const long calls = succeed - left;
    left = LONG_MAX;
    return !fair || !good ? wrong : calls <= succeed ? untouched : right;
}

} // namespace

int main(int count, char **arguments) {
    if (count == 2) // one of the children alone, for a debugger
        return child(std::atol(arguments[1]));
    long succeed = 0, failed = 0;
    for (int untouched_in_a_row = 0; succeed < 500 && untouched_in_a_row < 3; ++succeed) {
        const pid_t pid = fork();
        if (pid == 0)
            _exit(child(succeed));
        int status = 0;
        if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) == wrong) {
            std::printf("with %ld allocations: %s %d\n", succeed, WIFSIGNALED(status) ? "killed by signal" : "wrong,",
                        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            ++failed;
        }
        untouched_in_a_row = WIFEXITED(status) && WEXITSTATUS(status) == untouched ? untouched_in_a_row + 1 : 0;
    }
    std::printf("%ld children, %ld failed\n", succeed, failed);
    return failed == 0 && succeed > 3 ? 0 : 1;
}
