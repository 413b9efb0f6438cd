/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torture - runs karzer and lets one system call of one of its programs fail:
 * torture ROLE N ERRNO REPORT COMMAND... The N-th call of the role that could
 * fail returns ERRNO without being made; N 0: none. REPORT gets one line, how
 * many such calls the role made and the number of the one that failed.
 *
 * Roles: 0 the engine, 1 the holder, 2 its child, which becomes the agent, 3
 * the agent's child until its exec; what that becomes is left alone. Started by
 * tests/robust/test_torture.py, as root.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 64
#define ROLES 4

/* What cannot fail, what a failure of which no program sees, or what only fails
 * when a program is wrong. */
static const long sure[] = {
    SYS_close,
    SYS_munmap,
    SYS_exit,
    SYS_exit_group,
    SYS_getpid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getegid,
    SYS_getgid,
    SYS_umask,
    SYS_rt_sigreturn,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_arch_prctl,
    SYS_brk,
    SYS_futex,
    SYS_wait4,
    SYS_waitid,
    SYS_clock_gettime,
    SYS_set_tid_address,
    SYS_close_range,
    SYS_setsid,
    SYS_kill,
    SYS_pidfd_send_signal,
    SYS_gettid,
    SYS_restart_syscall,
};

static struct process {
    pid_t pid;
    int role;
    int inside; /* a system call */
    int fail;   /* that one is to fail */
} processes[PROCESSES];

static int role, error;
static long nth, seen, failed = -1;

static struct process *find(pid_t pid)
{
    for (size_t i = 0; i < PROCESSES; i++)
        if (processes[i].pid == pid)
            return &processes[i];
    return NULL;
}

static struct process *add(pid_t pid, int as)
{
    struct process *p = find(pid);

    if (p == NULL)
        p = find(0);
    if (p == NULL) {
        fprintf(stderr, "torture: too many processes\n");
        exit(2);
    }
    *p = (struct process){.pid = pid, .role = as};
    return p;
}

static int can_fail(long call)
{
    for (size_t i = 0; i < sizeof(sure) / sizeof(sure[0]); i++)
        if (sure[i] == call)
            return 0;
    return 1;
}

static void at_call(struct process *p)
{
    struct user_regs_struct regs;

    p->inside = !p->inside;
    if (ptrace(PTRACE_GETREGS, p->pid, NULL, &regs) < 0)
        return;
    if (p->inside) {
        long call = (long)regs.orig_rax;

        p->fail = p->role == role && can_fail(call) && ++seen == nth;
        if (!p->fail)
            return;
        failed = call;
        regs.orig_rax = ~0ull;
    } else {
        if (!p->fail)
            return;
        p->fail = 0;
        regs.rax = (unsigned long long)-(long long)error;
    }
    ptrace(PTRACE_SETREGS, p->pid, NULL, &regs);
}

/* A child of `parent` is there, perhaps seen already. */
static void at_fork(const struct process *parent)
{
    unsigned long pid;
    struct process *child;

    if (ptrace(PTRACE_GETEVENTMSG, parent->pid, NULL, &pid) < 0)
        return;
    child = find((pid_t)pid);
    if (child != NULL)
        child->role = parent->role + 1;
    else
        add((pid_t)pid, parent->role + 1);
}

static void go_on(pid_t pid, int sig)
{
    ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)sig);
}

static void leave_alone(struct process *p)
{
    ptrace(PTRACE_DETACH, p->pid, NULL, NULL);
    p->pid = 0;
}

static void at_stop(struct process *p, int status)
{
    int sig = WSTOPSIG(status);

    switch (status >> 16) {
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
        at_fork(p);
        go_on(p->pid, 0);
        return;
    case PTRACE_EVENT_EXEC:
        if (p->role >= ROLES - 1)
            leave_alone(p);
        else
            go_on(p->pid, 0);
        return;
    default:
        break;
    }
    if (sig == (SIGTRAP | 0x80)) {
        at_call(p);
        sig = 0;
    } else if (sig == SIGTRAP || sig == SIGSTOP) {
        sig = 0;
    }
    go_on(p->pid, sig);
}

/* Until the engine is dead; its exit status. */
static int watch(pid_t engine)
{
    int status, end = 2;
    pid_t pid;

    while ((pid = waitpid(-1, &status, __WALL)) > 0) {
        struct process *p = find(pid);

        if (WIFSTOPPED(status)) {
            at_stop(p != NULL ? p : add(pid, ROLES), status);
            continue;
        }
        if (p != NULL)
            p->pid = 0;
        if (pid == engine)
            end = WIFEXITED(status) ? WEXITSTATUS(status)
                                    : 128 + WTERMSIG(status);
    }
    return end;
}

static void report(const char *path)
{
    FILE *f = fopen(path, "we");

    if (f == NULL || fprintf(f, "%ld %ld\n", seen, failed) < 0 ||
        fclose(f) != 0) {
        perror(path);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
                         PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                         PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    pid_t pid;
    int end;

    if (argc < 6)
        return 2;
    role = atoi(argv[1]);
    nth = atol(argv[2]);
    error = atoi(argv[3]);
    pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        execv(argv[5], argv + 5);
        _exit(2);
    }
    if (pid < 0 || waitpid(pid, NULL, 0) != pid ||
        ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)options) < 0)
        return 2;
    add(pid, -1); /* until its exec, which must not fail */
    ptrace(PTRACE_CONT, pid, NULL, NULL);
    if (waitpid(pid, NULL, 0) != pid)
        return 2;
    add(pid, 0)->inside = 1; /* in that exec */
    go_on(pid, 0);
    end = watch(pid);
    report(argv[4]);
    return end;
}
