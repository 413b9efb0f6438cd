/* SPDX-License-Identifier: Apache-2.0 */
/*
 * abi - a program for a cell: makes system calls that Python cannot, and says
 * for each "NAME ok" or "NAME ERRNO". tests/tier/test_surface.py puts it in.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *name, long r)
{
    if (r >= 0)
        printf("%s ok\n", name);
    else
        printf("%s %s\n", name, strerrorname_np((int)-r));
    fflush(stdout);
}

static long raw(long nr, long a, long b, long c)
{
    long r = syscall(nr, a, b, c);

    return r < 0 ? -errno : r;
}

/* getpid by the 32-bit entry: number 20 there. */
static long by_int80(void)
{
    long r;

    __asm__ volatile("int $0x80"
                     : "=a"(r)
                     : "a"(20L)
                     : "memory", "r8", "r9", "r10", "r11");
    return (int32_t)r;
}

/* What may end its process is tried in a child. */
static void in_child(const char *name, long (*call)(void))
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        tell(name, call());
        _exit(0);
    }
    if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status))
        printf("%s SIG%s\n", name, sigabbrev_np(WTERMSIG(status)));
    fflush(stdout);
}

static long x32(void)
{
    return raw(0x40000000L | SYS_getpid, 0, 0, 0);
}

static long with_clone3(void)
{
    struct clone_args args = {.exit_signal = SIGCHLD};
    long r = raw(SYS_clone3, (long)&args, sizeof(args), 0);

    if (r == 0)
        _exit(0);
    return r;
}

int main(void)
{
    in_child("int80", by_int80);
    in_child("x32", x32);
    in_child("clone3", with_clone3);
    return 0;
}
