// SPDX-License-Identifier: Apache-2.0
//
// max_threads and rownorm_set_num_threads() cap the threads that take part, on a machine that has more CPUs: here
// oneTBB is told of eight. Every page of y faults at its first write, and the handler notes which thread it was.
#include <rownorm/rownorm.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#pragma GCC visibility push(default) // for all libraries of the process

extern "C" int sched_getaffinity(pid_t, size_t bytes, cpu_set_t *set) noexcept {
    std::memset(set, 0, bytes);
    for (unsigned cpu = 0; cpu < 8; ++cpu)
        CPU_SET(cpu, set);
    return 0;
}

extern "C" long sysconf(int name) noexcept {
    static const auto real = reinterpret_cast<long (*)(int)>(dlsym(RTLD_NEXT, "sysconf"));
    return name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF ? 8 : real(name);
}

#pragma GCC visibility pop

namespace {

constexpr std::int64_t elements = 1 << 21, page = 4096;
constexpr int most = 64;
std::atomic<long> writers[most];

void note_writer(int, siginfo_t *info, void *) {
    const long self = syscall(SYS_gettid);
    for (std::atomic<long> &writer : writers) {
        long none = 0;
        if (writer == self || writer.compare_exchange_strong(none, self))
            break;
    }
    usleep(300); // long enough for every other thread to take a task
    auto *at = static_cast<char *>(info->si_addr);
    mprotect(at - reinterpret_cast<std::uintptr_t>(at) % page, page, PROT_READ | PROT_WRITE);
}

/// Threads that wrote a part of y, of so many rows.
int count_writers(std::uint32_t max_threads, std::int64_t rows) {
    rownorm_descriptor d = {};
    d.struct_size = sizeof d;
    d.op = ROWNORM_RMS_NORM;
    d.x_type = ROWNORM_F32;
    d.n = elements / rows;
    d.eps = 1e-5;
    d.max_threads = max_threads;
    static std::vector<float> x(elements, 1.5F);
    constexpr std::size_t bytes = elements * sizeof(float);
    void *const y = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    rownorm_io io = rownorm_dense_io(&d, rows);
    io.x.data = x.data();
    io.y.data = y;
    for (std::atomic<long> &writer : writers)
        writer = 0;
    rownorm_plan *plan = nullptr;
    const bool right = !rownorm_plan_create(&plan, &d) && !rownorm_execute(plan, &io);
    rownorm_plan_destroy(plan);
    munmap(y, bytes);
    int count = 0;
    for (const std::atomic<long> &writer : writers)
        count += writer != 0;
    return right ? count : -1;
}

/// Whether oneTBB believes in the eight: without that, no cap below could be seen to fail.
bool has_many_threads() {
    int found = 0;
    for (int tries = 0; found <= 4 && tries < 20; ++tries)
        found = count_writers(8, 2048);
    std::printf("of 8 CPUs, %d took part\n", found);
    return found > 4;
}

/// For a batch of rows, and for a row so long that threads may share it.
bool at_most(std::uint32_t threads, std::uint32_t max_threads, const char *by) {
    bool right = true;
    for (const std::int64_t rows : {2048, 1}) {
        const int found = count_writers(max_threads, rows);
        std::printf("%s %u: %d threads wrote %lld rows\n", by, threads, found, static_cast<long long>(rows));
        right = right && found >= 1 && found <= static_cast<int>(threads);
    }
    return right;
}

} // namespace

int main() {
    struct sigaction action = {};
    action.sa_sigaction = note_writer;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
    bool right = has_many_threads();
    for (const std::uint32_t threads : {3U, 1U, 2U, 4U, 8U})
        right = at_most(threads, threads, "max_threads") && right;
    for (const std::uint32_t threads : {2U, 1U}) {
        rownorm_set_num_threads(threads);
        right = at_most(threads, 0, "rownorm_set_num_threads") && right;
    }
    return right ? 0 : 1;
}
