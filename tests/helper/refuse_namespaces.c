/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refuse_namespaces - runs a program as on a host that refuses namespaces and
 * mounts: `refuse_namespaces PROGRAM ARGS`. A seccomp filter answers EPERM, and
 * ENOSYS to clone3 with such flags cannot be told apart, so to all of clone3.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMESPACES                                                             \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |             \
     CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

#define LOAD(what)                                                             \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, what)
#define REFUSE(nr, error)                                                      \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),                             \
        ANSWER(SECCOMP_RET_ERRNO | (error))

int main(int argc, char *argv[])
{
    static struct sock_filter code[] = {
        LOAD(nr),
        REFUSE(SYS_unshare, EPERM),
        REFUSE(SYS_setns, EPERM),
        REFUSE(SYS_mount, EPERM),
        REFUSE(SYS_umount2, EPERM),
        REFUSE(SYS_pivot_root, EPERM),
        REFUSE(SYS_open_tree, EPERM),
        REFUSE(SYS_move_mount, EPERM),
        REFUSE(SYS_fsopen, EPERM),
        REFUSE(SYS_fsmount, EPERM),
        REFUSE(SYS_clone3, ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1),
        ANSWER(SECCOMP_RET_ERRNO | EPERM),
        ANSWER(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {
        .len = sizeof(code) / sizeof(code[0]),
        .filter = code,
    };

    if (argc < 2) {
        fprintf(stderr, "usage: refuse_namespaces PROGRAM [ARGS]\n");
        return 2;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
        perror("refuse_namespaces: seccomp");
        return 125;
    }
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
