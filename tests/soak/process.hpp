// SPDX-License-Identifier: Apache-2.0
//
// What the kernel says of this process.
#pragma once

#include <cstdio>
#include <cstring>
#include <dirent.h>

namespace soak {

/// VmRSS; -1 if it cannot be read.
inline long resident_kib() {
    long kib = -1;
    char line[256];
    std::FILE *const file = std::fopen("/proc/self/status", "r");
    while (file != nullptr && kib < 0 && std::fgets(line, sizeof line, file) != nullptr)
        if (std::sscanf(line, "VmRSS: %ld", &kib) != 1)
            kib = -1;
    if (file != nullptr)
        std::fclose(file);
    return kib;
}

inline int count_threads() {
    int count = 0;
    DIR *const directory = opendir("/proc/self/task");
    while (directory != nullptr && readdir(directory) != nullptr)
        ++count;
    if (directory != nullptr)
        closedir(directory);
    return count - 2; // . and ..
}

/// Sanitizers keep freed memory and shadows of it.
constexpr bool memory_is_watched() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#elif defined(__has_feature)
    return !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
    return true;
#endif
}

} // namespace soak
