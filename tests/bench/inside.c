/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inside - what a program itself pays in a cell: nanoseconds for a system call,
 * an open and close, a fork and exec. Run by tools/bench, inside and outside.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void call(void)
{
    syscall(SYS_getppid);
}

static void open_close(void)
{
    close(open("/usr/bin/env", O_RDONLY | O_CLOEXEC));
}

static void fork_exec(void)
{
    char *const argv[] = {"/bin/true", NULL};
    pid_t pid;

    if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) == 0)
        waitpid(pid, NULL, 0);
}

/* The best of several rounds: what is left is the work, not the neighbours. */
static double best(void (*work)(void), int times)
{
    double least = 0;

    for (int round = 0; round < 9; round++) {
        double t = now();

        for (int i = 0; i < times; i++)
            work();
        t = (now() - t) / times;
        if (round == 0 || t < least)
            least = t;
    }
    return least;
}

int main(void)
{
    printf("call %.1f\n", best(call, 200000));
    printf("open %.1f\n", best(open_close, 20000));
    printf("exec %.1f\n", best(fork_exec, 100));
    return 0;
}
