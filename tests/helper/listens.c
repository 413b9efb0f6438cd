/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listens - runs a program below a filter that has a listener, as container
 * engines have one: `listens PROGRAM ARGS`. The filter allows everything.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
    struct sock_filter all = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
    struct sock_fprog program = {1, &all};
    int status;
    pid_t pid;

    if (argc < 2)
        return 125;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER,
                SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) < 0) {
        perror("listens");
        return 125;
    }
    pid = fork(); /* who waits holds the listener */
    if (pid == 0) {
        execv(argv[1], argv + 1);
        perror(argv[1]);
        _exit(125);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 125;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
