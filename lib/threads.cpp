// SPDX-License-Identifier: Apache-2.0
#include "threads.hpp"

#include <rownorm/rownorm.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace rownorm {

long read_file(const char *path, char *buffer, size_t size) noexcept {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    const ssize_t length = read(file, buffer, size - 1);
    close(file);
    buffer[length < 0 ? 0 : length] = 0;
    return length;
}

namespace {

std::atomic<uint32_t> set_threads{0};

uint32_t affinity_threads() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return uint32_t(CPU_COUNT(&set));
    const long online = sysconf(_SC_NPROCESSORS_ONLN); // more CPUs than a cpu_set_t holds
    return online > 0 ? uint32_t(online) : 1;
}

// The CPUs that a quota in a cpu.max file ("200000 100000" or "max 100000") allows, 0 for no limit.
double quota_of(const char *path) {
    char text[64];
    double quota, period;
    if (read_file(path, text, sizeof text) <= 0 || std::sscanf(text, "%lf %lf", &quota, &period) != 2 || period <= 0)
        return 0;
    return quota / period;
}

double quota_of_v1(const char *directory) {
    char path[512], text[64];
    std::snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
    const double quota = read_file(path, text, sizeof text) > 0 ? std::atof(text) : 0;
    std::snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
    const double period = read_file(path, text, sizeof text) > 0 ? std::atof(text) : 0;
    return quota > 0 && period > 0 ? quota / period : 0;
}

void tighten(double &limit, double quota) {
    if (quota > 0 && (limit == 0 || quota < limit))
        limit = quota;
}

// The tightest quota between this process's cgroup and the root, 0 for none.
double cgroup_quota() {
    char text[1024], path[1600];
    double limit = 0;
    if (read_file("/proc/self/cgroup", text, sizeof text) > 0)
        if (char *group = std::strstr(text, "0::/")) {
            group += 3;
            group[std::strcspn(group, "\n")] = 0;
            for (;;) {
                std::snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
                tighten(limit, quota_of(path));
                char *parent = std::strrchr(group, '/');
                if (!parent)
                    break;
                *parent = 0;
            }
        }
    tighten(limit, quota_of("/sys/fs/cgroup/cpu.max")); // a container that sees only its own group
    tighten(limit, quota_of_v1("/sys/fs/cgroup/cpu"));
    return limit;
}

uint32_t environment_threads() {
    const char *value = std::getenv("ROWNORM_NUM_THREADS");
    const long threads = value ? std::strtol(value, nullptr, 10) : 0;
    return threads > 0 ? uint32_t(std::min(threads, 4096L)) : 0;
}

uint32_t allowed_threads() {
    const uint32_t cpus = affinity_threads();
    const double quota = cgroup_quota();
    return std::max(1u, quota > 0 && quota < cpus ? uint32_t(quota) : cpus);
}

} // namespace

uint32_t default_threads() noexcept {
    static const uint32_t threads = environment_threads() ? environment_threads() : allowed_threads();
    return threads;
}

uint32_t current_threads() noexcept {
    const uint32_t threads = set_threads.load(std::memory_order_relaxed);
    return threads ? threads : default_threads();
}

} // namespace rownorm

void rownorm_set_num_threads(uint32_t threads) { rownorm::set_threads.store(threads, std::memory_order_relaxed); }
uint32_t rownorm_num_threads(void) { return rownorm::current_threads(); }
