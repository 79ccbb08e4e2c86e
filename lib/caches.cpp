// SPDX-License-Identifier: Apache-2.0
#include "caches.hpp"

#include "threads.hpp"

#include <atomic>
#include <cstdio>

namespace rownorm {
namespace {

// Reads /sys/devices/system/cpu/cpu0/cache/index<index>/<name>. (The C library's sysconf reports the L3 of some
// virtual machines ten times too large.)
bool read_cache(int index, const char *name, char (&text)[32]) {
    char path[96];
    std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
    return read_file(path, text, sizeof text) > 0;
}

bool holds_data(int index) {
    char type[32];
    return read_cache(index, "type", type) && type[0] != 'I'; // not only instructions
}

Caches read_caches() {
    Caches sizes;
    char text[32];
    for (int index = 0; read_cache(index, "level", text); index++) {
        const int level = text[0] - '0';
        long long kilobytes = 0;
        if (level < 1 || level > 3 || !holds_data(index) || !read_cache(index, "size", text) ||
            std::sscanf(text, "%lldK", &kilobytes) != 1 || kilobytes <= 0)
            continue;
        (level == 1 ? sizes.l1 : level == 2 ? sizes.l2 : sizes.l3) = kilobytes << 10;
    }
    return sizes;
}

} // namespace

Caches caches() noexcept {
    static std::atomic<int64_t> l1{0}, l2{0}, l3{0};
    if (const int64_t known = l1.load(std::memory_order_acquire)) // stored last
        return {known, l2.load(std::memory_order_relaxed), l3.load(std::memory_order_relaxed)};
    const Caches sizes = read_caches();
    l2.store(sizes.l2, std::memory_order_relaxed);
    l3.store(sizes.l3, std::memory_order_relaxed);
    l1.store(sizes.l1, std::memory_order_release);
    return sizes;
}

} // namespace rownorm
