// SPDX-License-Identifier: Apache-2.0
//
// rownorm_probe: what can only be seen in a process of its own. Each command prints one line on stdout
// for ctest to read, and exits 0 if all is as promised.
//
//   isa            which ISA runs under ROWNORM_MAX_ISA, and what an unknown name does
//   num-threads    rownorm_num_threads()
//   affinity       pinned to each CPU in turn: the same ISA, one thread
//   serial         max_threads 1 starts no thread
//   fork           child and grandchild after the pool exists
//   first-call     64 threads whose first calls coincide
//   no-threads     no thread can be started (RLIMIT_NPROC): right all the same
#include <rownorm/rownorm.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <grp.h>
#include <sched.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::int64_t n = 1024, rows = 2000; // large enough for several threads

rownorm_descriptor descriptor() {
    rownorm_descriptor d = {};
    d.struct_size = sizeof d;
    d.op = ROWNORM_RMS_NORM;
    d.x_type = ROWNORM_F32;
    d.n = n;
    d.eps = 1e-5;
    return d;
}

/// Normalises a large batch in the usual way and by one part; whether the bits agree.
bool large_batch_is_right(std::uint32_t max_threads) {
    std::vector<float> x(static_cast<std::size_t>(rows * n)), y(x.size()), expected(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i % 1013) - 500;
    rownorm_descriptor d = descriptor();
    d.max_threads = max_threads;
    rownorm_plan *plan = nullptr;
    if (rownorm_plan_create(&plan, &d) != ROWNORM_OK)
        return false;
    rownorm_io io = rownorm_dense_io(&d, rows);
    io.x.data = x.data();
    io.y.data = y.data();
    bool right = rownorm_execute(plan, &io) == ROWNORM_OK;
    io.y.data = expected.data();
    right = rownorm_execute_part(plan, &io, 0, 1) == ROWNORM_OK && right;
    rownorm_plan_destroy(plan);
    return right && std::memcmp(y.data(), expected.data(), y.size() * sizeof(float)) == 0;
}

int count_threads() {
    int count = 0;
    DIR *const directory = opendir("/proc/self/task");
    while (directory != nullptr && readdir(directory) != nullptr)
        ++count;
    if (directory != nullptr)
        closedir(directory);
    return count - 2; // . and ..
}

/// The plan's ISA, or its error.
std::string plan_line() {
    const rownorm_descriptor d = descriptor();
    rownorm_plan *plan = nullptr;
    const rownorm_status status = rownorm_plan_create(&plan, &d);
    std::string line = rownorm_status_name(status);
    line += status == ROWNORM_OK ? std::string(" ") + rownorm_plan_isa(plan) : std::string(" ") + rownorm_last_error();
    rownorm_plan_destroy(plan);
    return line;
}

int isa() {
    const char *const name = rownorm_isa();
    const std::string first = plan_line();
    std::printf("isa %s plan %s", name == nullptr ? "none" : name, first.c_str());
    float x[4] = {1, -1, 1, -1}, y[4] = {};
    const rownorm_status status = rownorm_rms_norm_f32(y, x, nullptr, 1, 4, 0);
    // The variable is read once: another value changes nothing now.
    setenv("ROWNORM_MAX_ISA", name != nullptr && std::strcmp(name, "sse2") == 0 ? "avx2" : "sse2", 1);
    const bool kept = plan_line() == first;
    std::printf(" call %s%s%s\n", rownorm_status_name(status), y[0] == 1 ? " right" : "", kept ? " kept" : " changed");
    return kept ? 0 : 1;
}

int num_threads() {
    std::printf("threads %u\n", rownorm_num_threads());
    return 0;
}

/// Runs `command` of this program again, pinned to one CPU; its line.
std::string pinned(const char *program, const char *command, std::size_t cpu) {
    int ends[2];
    if (pipe(ends) != 0)
        return "no pipe";
    const pid_t child = fork();
    if (child == 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0)
            _exit(3);
        dup2(ends[1], STDOUT_FILENO);
        execl(program, program, command, static_cast<char *>(nullptr));
        _exit(4);
    }
    close(ends[1]);
    std::string line(200, '\0');
    const ssize_t length = read(ends[0], line.data(), line.size());
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    line.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return status == 0 ? line : "failed: " + line;
}

int affinity() {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 1;
    unsetenv("ROWNORM_NUM_THREADS");
    std::string first;
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed))
            continue;
        const std::string line = pinned("/proc/self/exe", "isa", cpu);
        const std::string threads = pinned("/proc/self/exe", "num-threads", cpu);
        if (first.empty())
            first = line;
        if (line != first || line.compare(0, 4, "isa ") != 0 || threads != "threads 1\n") {
            std::printf("cpu %zu: %s%s", cpu, line.c_str(), threads.c_str());
            return 1;
        }
    }
    std::printf("same on every CPU: %s", first.c_str());
    return first.empty() ? 1 : 0;
}

int serial() {
    const int before = count_threads();
    const bool right = large_batch_is_right(1);
    rownorm_set_num_threads(1);
    const bool also = large_batch_is_right(0);
    std::printf("threads before %d, after %d\n", before, count_threads());
    return right && also && count_threads() == before ? 0 : 1;
}

/// Whether the work is right in a forked child, and in that child's child.
bool right_after_fork(int generations) {
    if (!large_batch_is_right(8))
        return false;
    if (generations == 0)
        return true;
    const pid_t child = fork();
    if (child == 0)
        _exit(right_after_fork(generations - 1) ? 0 : 1);
    int status = 1;
    return waitpid(child, &status, 0) == child && status == 0;
}

int forks() {
    const bool right = right_after_fork(2);
    std::printf("after fork: %s\n", right ? "right" : "wrong");
    return right ? 0 : 1;
}

int first_call() {
    constexpr int count = 64;
    std::atomic<int> waiting{count}, wrong{0};
    std::vector<std::thread> threads;
    threads.reserve(count);
    for (int i = 0; i < count; ++i)
        threads.emplace_back([&] {
            const std::vector<float> x(100 * n, 3.0F);
            std::vector<float> y(x.size());
            --waiting;
            while (waiting > 0) {
            }
            const bool ok = rownorm_rms_norm_f32(y.data(), x.data(), nullptr, 100, n, 0) == ROWNORM_OK;
            wrong += ok && y.front() == 1 && y.back() == 1 ? 0 : 1;
        });
    for (std::thread &thread : threads)
        thread.join();
    std::printf("%d of %d first calls wrong\n", wrong.load(), count);
    return wrong;
}

int no_threads() {
    // The limit does not bind root; as a user of its own the process is the only one that counts.
    if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setgid(60001) != 0 || setuid(60001) != 0))
        return 1;
    const rlimit none{1, 1};
    if (setrlimit(RLIMIT_NPROC, &none) != 0)
        return 1;
    const bool right = large_batch_is_right(8);
    std::printf("threads %d: %s\n", count_threads(), right ? "right" : "wrong");
    return right ? 0 : 1;
}

} // namespace

int main(int count, char **arguments) {
    const std::string command = count == 2 ? arguments[1] : "";
    if (command == "isa")
        return isa();
    if (command == "num-threads")
        return num_threads();
    if (command == "affinity")
        return affinity();
    if (command == "serial")
        return serial();
    if (command == "fork")
        return forks();
    if (command == "first-call")
        return first_call();
    if (command == "no-threads")
        return no_threads();
    std::fprintf(stderr, "usage: rownorm_probe isa|num-threads|affinity|serial|fork|first-call|no-threads\n");
    return 2;
}
