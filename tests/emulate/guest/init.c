/* SPDX-License-Identifier: Apache-2.0
 *
 * Process 1 of the emulated PC: runs /bin/sh /run.sh, copies its output to bochs' debug port 0xe9 as it
 * comes, reports the exit status and switches the machine off. Linked statically, run as /init.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void debug_port(const char *text, size_t bytes) {
    __asm__ volatile("rep outsb" : "+S"(text), "+c"(bytes) : "d"((unsigned short)0xe9) : "memory");
}

static void mount_kernel_file_systems(void) {
    mount("proc", "/proc", "proc", 0, NULL);
    mount("sys", "/sys", "sysfs", 0, NULL);
    mount("dev", "/dev", "devtmpfs", 0, NULL);
    mkdir("/dev/shm", 01777);
    mount("shm", "/dev/shm", "tmpfs", 0, NULL);
}

static void run_script(int output) {
    char *const arguments[] = {"/bin/sh", "/run.sh", NULL};
    char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8", NULL};
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(output, 1);
    dup2(output, 2);
    close(output);
    execve(arguments[0], arguments, environment);
    perror(arguments[0]);
    _exit(127);
}

static void copy_output(int from) {
    char buffer[4096];
    ssize_t bytes;
    while ((bytes = read(from, buffer, sizeof buffer)) > 0)
        debug_port(buffer, (size_t)bytes);
}

static void switch_off(void) {
    for (const char *p = "Shutdown"; *p; p++)
        outb((unsigned char)*p, 0x8900);
    for (;;)
        pause();
}

int main(void) {
    char line[64];
    int pipe_ends[2], status = 0;
    iopl(3);
    mount_kernel_file_systems();
    if (pipe(pipe_ends) != 0)
        switch_off();
    debug_port("\n@begin\n", 8);
    const pid_t child = fork();
    if (child == 0)
        run_script(pipe_ends[1]);
    close(pipe_ends[1]);
    copy_output(pipe_ends[0]);
    waitpid(child, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    debug_port(line, (size_t)snprintf(line, sizeof line, "\n@exit %d\n", code));
    switch_off();
}
