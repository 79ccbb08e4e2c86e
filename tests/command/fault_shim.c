/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded by test_faults.py: makes system calls of the command fail. FAULT is "CALL:HOW:FROM", with CALL one of
 * read, write, close, rename, fsync, stat; HOW an error such as EIO, or "short" (moves one byte at a time), "zero"
 * (moves nothing and says so), or "once-EINTR" (every other call is interrupted); FROM the number of the first
 * call that fails, counting from 1. Descriptors 0 to 2 are left alone; of what is closed, only outputs count (the
 * library looks at files of the system, too). With "fmaf" as CALL, that function gives wrong results, with "short" as
 * HOW slightly wrong ones.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum how { NO_FAULT, FAIL, SHORT, ZERO, INTERRUPT };

static atomic_long calls;

static int error_number(const char *name) {
    static const struct {
        const char *name;
        int number;
    } errors[] = {{"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EACCES", EACCES}, {"EDQUOT", EDQUOT}, {"ESTALE", ESTALE}};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strncmp(name, errors[i].name, strlen(errors[i].name)) == 0)
            return errors[i].number;
    abort();
}

/* What this call shall do; sets errno if it shall fail. */
static enum how fault(const char *call) {
    const char *plan = getenv("FAULT");
    const size_t length = strlen(call);
    if (!plan || strncmp(plan, call, length) != 0 || plan[length] != ':')
        return NO_FAULT;
    const char *how = plan + length + 1, *from = strchr(how, ':');
    const long number = atomic_fetch_add(&calls, 1) + 1;
    if (number < atol(from + 1))
        return NO_FAULT;
    if (strncmp(how, "short:", 6) == 0)
        return SHORT;
    if (strncmp(how, "zero:", 5) == 0)
        return ZERO;
    if (strncmp(how, "once-EINTR:", 11) == 0) {
        errno = EINTR;
        return number % 2 ? INTERRUPT : NO_FAULT;
    }
    errno = error_number(how);
    return FAIL;
}

static void *next(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function)
        abort();
    return function;
}

/* The size to pass on, or -1 (errno is set) or 0 to be returned at once. */
static ssize_t moved(const char *call, int fd, size_t size) {
    if (fd <= 2)
        return (ssize_t)size;
    switch (fault(call)) {
    case FAIL:
    case INTERRUPT:
        return -1;
    case SHORT:
        return size > 0;
    case ZERO:
        return 0;
    default:
        return (ssize_t)size;
    }
}

ssize_t read(int fd, void *into, size_t size) {
    const ssize_t some = moved("read", fd, size);
    return some <= 0 ? some : ((ssize_t(*)(int, void *, size_t))next("read"))(fd, into, (size_t)some);
}

ssize_t pread(int fd, void *into, size_t size, off_t at) {
    const ssize_t some = moved("read", fd, size);
    return some <= 0 ? some : ((ssize_t(*)(int, void *, size_t, off_t))next("pread"))(fd, into, (size_t)some, at);
}

ssize_t write(int fd, const void *from, size_t size) {
    const ssize_t some = moved("write", fd, size);
    return some <= 0 ? some : ((ssize_t(*)(int, const void *, size_t))next("write"))(fd, from, (size_t)some);
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t at) {
    const ssize_t some = moved("write", fd, size);
    return some <= 0 ? some
                     : ((ssize_t(*)(int, const void *, size_t, off_t))next("pwrite"))(fd, from, (size_t)some, at);
}

static int is_output(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return strstr(path, "/.rownorm-") != NULL;
}

int close(int fd) {
    const int output = is_output(fd);
    const int result = ((int (*)(int))next("close"))(fd);
    return output && fault("close") == FAIL ? -1 : result;
}

int fsync(int fd) { return fault("fsync") == FAIL ? -1 : ((int (*)(int))next("fsync"))(fd); }

int rename(const char *from, const char *to) {
    return fault("rename") == FAIL ? -1 : ((int (*)(const char *, const char *))next("rename"))(from, to);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags) {
    return fault("rename") == FAIL ? -1
                                   : ((int (*)(int, const char *, int, const char *, unsigned))next("renameat2"))(
                                         from_fd, from, to_fd, to, flags);
}

/* A file that is shorter than what was written, as a file system that lost a write would show it. */
int fstat(int fd, struct stat *st) {
    const int result = ((int (*)(int, struct stat *))next("fstat"))(fd, st);
    if (fd > 2 && fault("stat") == ZERO)
        st->st_size = 0;
    return result;
}

float fmaf(float x, float y, float z) {
    const double product = (double)x * (double)y;
    const enum how how = fault("fmaf");
    return (float)(product * (how == FAIL ? 1.01 : how == SHORT ? 1 + 0x1p-17 : 1) + (double)z);
}
