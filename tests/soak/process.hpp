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

#if defined(__has_feature) // asked for in #if only, which is all that GCC allows
#define ROWNORM_SOAK_FEATURE(name) __has_feature(name)
#else
#define ROWNORM_SOAK_FEATURE(name) 0
#endif

#if defined(__SANITIZE_THREAD__) || ROWNORM_SOAK_FEATURE(thread_sanitizer)
constexpr bool has_thread_sanitizer = true;
#else
constexpr bool has_thread_sanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || ROWNORM_SOAK_FEATURE(address_sanitizer)
constexpr bool has_address_sanitizer = true;
#else
constexpr bool has_address_sanitizer = false;
#endif

/// Sanitizers keep freed memory and shadows of it.
constexpr bool memory_is_watched() { return !has_address_sanitizer && !has_thread_sanitizer; }
/// The thread sanitizer has a thread of its own.
constexpr int threads_of_sanitizer() { return has_thread_sanitizer ? 1 : 0; }

} // namespace soak
