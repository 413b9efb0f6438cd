/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main - karzer-agent: pid 1 in every cell, started by the holder, already
 * confined, with the stream to the engine at AGENT_STREAM_FD and an empty
 * environment. It never prints, opens no network, and has no right that the
 * program it runs does not have.
 *
 * Exit status: 0 the last command ended or the engine left, 1 a frame broke a
 * rule, 2 the agent could not start. The holder needs none of them.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/exec.h"
#include "agent/loop.h"
#include "agent/reap.h"

static struct agent agent;

/* No signal ends the agent: all are blocked, and as pid 1 it has no default
 * actions. What it may have inherited as ignored would be inherited on by
 * every program, so all are set to their defaults. */
static int signals_init(void)
{
    static const uint64_t usual[4]; /* the kernel's struct: SIG_DFL */
    sigset_t all, child;

    sigfillset(&all);
    if (sigprocmask(SIG_SETMASK, &all, NULL) < 0)
        return -1;
    /* By number: libc refuses its own, 32 to 34, and make leaves two of them
     * ignored. The kernel refuses KILL and STOP. */
    for (int i = 1; i <= 64; i++)
        syscall(SYS_rt_sigaction, i, usual, NULL, sizeof(uint64_t));
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    agent.children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    return agent.children < 0 ? -1 : 0;
}

/* 0 to 3 are the stream, all close-on-exec, so that no other descriptor of the
 * agent is among those that a program gets; nothing else is open. */
static int files_init(void)
{
    if (syscall(SYS_close_range, AGENT_STREAM_FD + 1, ~0u, 0) < 0)
        return -1;
    for (int fd = 0; fd < AGENT_STREAM_FD; fd++) {
        if (dup3(AGENT_STREAM_FD, fd, O_CLOEXEC) < 0)
            return -1;
    }
    agent.stream = AGENT_STREAM_FD;
    umask(022);
    exec_init();
    return fcntl(AGENT_STREAM_FD, F_SETFD, FD_CLOEXEC);
}

int main(void)
{
    enum loop_end end;

    if (prctl(PR_SET_DUMPABLE, 0) < 0 || files_init() < 0 || signals_init() < 0)
        return 2;
    if (getpid() != 1 && prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return 2;
    end = loop_run(&agent);
    for (unsigned i = 1; i <= AGENT_CMD_MAX; i++)
        file_abort(&agent.file[i]);
    if (getpid() != 1 && !agent.alone)
        reap_kill_wait();
    _exit(end == LOOP_BROKEN ? 1 : 0);
}
