/* SPDX-License-Identifier: Apache-2.0
 *
 * A host that links neither the library nor TBB: loads it, works with several threads, unloads it, many
 * times, also from threads that end after the unloading; then exits. Any crash is a failure, and so is a
 * number of threads that grows.
 */
#include <rownorm/rownorm.h>

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { rows = 256, n = 1024 };
static float x[rows * n], y[rows * n];

typedef rownorm_status (*rms_norm_f32)(float *, const float *, const float *, int64_t, int64_t, float);

static int count_threads(void) {
    int count = -2; /* . and .. */
    DIR *directory = opendir("/proc/self/task");
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count;
}

/* NULL if all is right. */
static const char *load_work_unload(const char *path) {
    union { /* ISO C has no cast from an object pointer to a function */
        void *object;
        rms_norm_f32 function;
    } symbol;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    rownorm_status status;
    if (!library)
        return dlerror();
    symbol.object = dlsym(library, "rownorm_rms_norm_f32");
    if (!symbol.object)
        return "no symbol rownorm_rms_norm_f32";
    y[rows * n - 1] = 0;
    status = symbol.function(y, x, NULL, rows, n, 0);
    if (dlclose(library))
        return "dlclose failed";
    return status == ROWNORM_OK && y[rows * n - 1] == 1 ? NULL : "wrong result";
}

static void *in_a_thread(void *path) { return (void *)load_work_unload((const char *)path); }

int main(int count, char **arguments) {
    const char *fault = NULL;
    int i, threads = 0;
    if (count != 2)
        return 2;
    for (i = 0; i < rows * n; i++)
        x[i] = 2;
    for (i = 0; i < 200 && !fault; i++) {
        if (i % 4 == 3) {
            pthread_t thread;
            void *result = NULL;
            if (pthread_create(&thread, NULL, in_a_thread, arguments[1]) || pthread_join(thread, &result))
                return 1;
            fault = (const char *)result;
        } else {
            fault = load_work_unload(arguments[1]);
        }
        if (i == 50)
            threads = count_threads();
    }
    printf("threads after 50: %d, after %d: %d; %s\n", threads, i, count_threads(), fault ? fault : "right");
    return fault || count_threads() > threads;
}
