// SPDX-License-Identifier: Apache-2.0
#include "bench.hpp"

#include <sched.h>

#include <cstdlib>
#include <fstream>

namespace command {

namespace {

std::string cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (const std::size_t colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos)
            return line.substr(colon + 2);
    return "unknown";
}

std::string first_word(const std::string &path) {
    std::ifstream file(path);
    std::string word;
    file >> word;
    return word;
}

/// As the kernel writes it: "1024K".
std::size_t cache_bytes(const std::string &text) {
    char *end = nullptr;
    const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
    return std::size_t(number) << (*end == 'K' ? 10 : *end == 'M' ? 20 : 0);
}

void read_caches(bench_machine &machine) {
    for (int index = 0;; ++index) {
        const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
        const std::string level = first_word(folder + "level");
        if (level.empty())
            return;
        if (first_word(folder + "type") == "Instruction")
            continue;
        const std::size_t bytes = cache_bytes(first_word(folder + "size"));
        (level == "1" ? machine.l1d_bytes : level == "2" ? machine.l2_bytes : machine.l3_bytes) = bytes;
    }
}

std::size_t usable_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? std::size_t(CPU_COUNT(&set)) : 1;
}

} // namespace

bench_machine describe_machine() {
    bench_machine machine;
    machine.cpu = cpu_name();
    machine.cpus = usable_cpus();
    if (getloadavg(&machine.load, 1) != 1)
        machine.load = 0;
    read_caches(machine);
    return machine;
}

} // namespace command
