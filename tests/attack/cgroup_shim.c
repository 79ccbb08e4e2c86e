/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded: what is opened under /proc/self/cgroup and /sys/fs/cgroup is looked for under $ROWNORM_FAKE_ROOT, so that
 * quotas can be tried that this machine does not have.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*open_function)(const char *, int, ...);

static int open_as(const char *name, const char *path, int flags, unsigned mode) {
    char other[4096];
    union { /* ISO C has no cast from an object pointer to a function */
        void *object;
        open_function function;
    } real;
    const char *root = getenv("ROWNORM_FAKE_ROOT");
    real.object = dlsym(RTLD_NEXT, name);
    if (root && (!strncmp(path, "/sys/fs/cgroup", 14) || !strcmp(path, "/proc/self/cgroup"))) {
        snprintf(other, sizeof other, "%s%s", root, path);
        path = other;
    }
    return real.function(path, flags, mode);
}

int open(const char *path, int flags, ...) {
    unsigned mode;
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, unsigned);
    va_end(arguments);
    return open_as("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    unsigned mode;
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, unsigned);
    va_end(arguments);
    return open_as("open64", path, flags, mode);
}
