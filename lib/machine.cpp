// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include "cpu.hpp"
#include "threads.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

Machine read_machine() {
    Machine found;
    char text[32];
    for (int index = 0; read_cache(index, "level", text); index++) {
        const int level = text[0] - '0';
        long long kilobytes = 0;
        if (level < 1 || level > 3 || !holds_data(index) || !read_cache(index, "size", text) ||
            std::sscanf(text, "%lldK", &kilobytes) != 1 || kilobytes <= 0)
            continue;
        (level == 1 ? found.l1 : level == 2 ? found.l2 : found.l3) = kilobytes << 10;
    }
    found.takes_turns = streams_hinder_reads();
    const char *const settings = std::getenv("ROWNORM_MACHINE");
    return with_settings(found, settings ? settings : "");
}

} // namespace

Machine with_settings(Machine machine, const char *settings) noexcept {
    for (const char *at = settings; *at; at += *at == ',') {
        const auto length = int(std::strcspn(at, ","));
        int value = 0, end = 0;
        char level[2] = {}, unit[2] = {};
        if (std::sscanf(at, " turns=%1[01]%n", unit, &end) == 1 && end == length)
            machine.takes_turns = unit[0] == '1';
        else if (std::sscanf(at, " l%1[123]=%9d%1[KM]%n", level, &value, unit, &end) == 3 && end == length && value > 0)
            (level[0] == '1'   ? machine.l1
             : level[0] == '2' ? machine.l2
                               : machine.l3) = int64_t(value) << (unit[0] == 'K' ? 10 : 20);
        at += length;
    }
    return machine;
}

Machine machine() noexcept {
    static std::atomic<int64_t> l1{0}, l2{0}, l3{0};
    static std::atomic<bool> takes_turns{false};
    constexpr auto relaxed = std::memory_order_relaxed;
    if (const int64_t known = l1.load(std::memory_order_acquire)) // stored last
        return {known, l2.load(relaxed), l3.load(relaxed), takes_turns.load(relaxed)};
    const Machine found = read_machine();
    l2.store(found.l2, relaxed);
    l3.store(found.l3, relaxed);
    takes_turns.store(found.takes_turns, relaxed);
    l1.store(found.l1, std::memory_order_release);
    return found;
}

} // namespace rownorm
