/* SPDX-License-Identifier: Apache-2.0 */
/* sys - see sys.h. */
#include "src/base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

int sys_pidfd_send_signal(int pidfd, int sig)
{
    return (int)syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0);
}

int sys_pidfd_send_info(int pidfd, int sig, siginfo_t *info)
{
    return (int)syscall(SYS_pidfd_send_signal, pidfd, sig, info, 0);
}

int sys_rt_tgsigqueueinfo(pid_t process, pid_t thread, int sig, siginfo_t *info)
{
    return (int)syscall(SYS_rt_tgsigqueueinfo, process, thread, sig, info);
}

int sys_pidfd_open(pid_t pid, unsigned flags)
{
    return (int)syscall(SYS_pidfd_open, pid, flags);
}

int sys_pidfd_getfd(int pidfd, int fd)
{
    return (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
}

int sys_openat2(int dirfd, const char *path, const struct open_how *how)
{
    return (int)syscall(SYS_openat2, dirfd, path, how, sizeof(*how));
}

int sys_open_tree(int dirfd, const char *path, unsigned flags)
{
    return (int)syscall(SYS_open_tree, dirfd, path, flags);
}

int sys_move_mount(int from, const char *from_path, int to, const char *to_path,
                   unsigned flags)
{
    return (int)syscall(SYS_move_mount, from, from_path, to, to_path, flags);
}

int sys_fsopen(const char *fs, unsigned flags)
{
    return (int)syscall(SYS_fsopen, fs, flags);
}

int sys_fsconfig(int fd, unsigned cmd, const char *key, const void *value,
                 int aux)
{
    return (int)syscall(SYS_fsconfig, fd, cmd, key, value, aux);
}

int sys_fsmount(int fd, unsigned flags, unsigned attr_flags)
{
    return (int)syscall(SYS_fsmount, fd, flags, attr_flags);
}

int sys_mount_setattr(int dirfd, const char *path, unsigned flags,
                      const struct mount_attr *attr, size_t size)
{
    return (int)syscall(SYS_mount_setattr, dirfd, path, flags, attr, size);
}

int sys_pivot_root(const char *new_root, const char *put_old)
{
    return (int)syscall(SYS_pivot_root, new_root, put_old);
}

int sys_close_range(unsigned first, unsigned last, unsigned flags)
{
    return (int)syscall(SYS_close_range, first, last, flags);
}

/* What clone(2) can say. The child enters the group itself, or ends. */
static pid_t clone_old(const struct clone_args *args)
{
    uint64_t flags = args->flags & ~(uint64_t)CLONE_INTO_CGROUP;
    pid_t pid;

    if (flags > UINT32_MAX || (flags & CSIGNAL) != 0 || args->set_tid != 0 ||
        args->stack != 0) {
        errno = ENOSYS;
        return -1;
    }
    pid = (pid_t)syscall(SYS_clone, flags | args->exit_signal, 0, args->pidfd,
                         0, 0);
    if (pid == 0 && (args->flags & CLONE_INTO_CGROUP) != 0) {
        int fd = openat((int)args->cgroup, "cgroup.procs", O_WRONLY);

        if (fd < 0 || write(fd, "0", 1) != 1)
            _exit(1);
        close(fd);
    }
    return pid;
}

pid_t sys_clone3(const struct clone_args *args)
{
    pid_t pid = (pid_t)syscall(SYS_clone3, args, sizeof(*args));

    /* Container engines answer so for want of a way to filter it. */
    return pid < 0 && errno == ENOSYS ? clone_old(args) : pid;
}

int sys_execveat(int fd, const char *path, char *const argv[],
                 char *const envp[], int flags)
{
    return (int)syscall(SYS_execveat, fd, path, argv, envp, flags);
}

int sys_seccomp(unsigned op, unsigned flags, void *arg)
{
    return (int)syscall(SYS_seccomp, op, flags, arg);
}

int sys_capset(const void *header, const void *data)
{
    return (int)syscall(SYS_capset, header, data);
}

int sys_landlock_create_ruleset(const void *attr, size_t size, unsigned flags)
{
    return (int)syscall(SYS_landlock_create_ruleset, attr, size, flags);
}

int sys_landlock_add_rule(int fd, unsigned type, const void *attr,
                          unsigned flags)
{
    return (int)syscall(SYS_landlock_add_rule, fd, type, attr, flags);
}

int sys_landlock_restrict_self(int fd, unsigned flags)
{
    return (int)syscall(SYS_landlock_restrict_self, fd, flags);
}

int sys_setresuid(uid_t uid)
{
    return (int)syscall(SYS_setresuid, uid, uid, uid);
}

int sys_setresgid(gid_t gid)
{
    return (int)syscall(SYS_setresgid, gid, gid, gid);
}

int sys_setgroups(size_t n, const gid_t *list)
{
    return (int)syscall(SYS_setgroups, n, list);
}

int sys_tgkill(pid_t process, pid_t thread, int sig)
{
    return (int)syscall(SYS_tgkill, process, thread, sig);
}

int sys_ioctl(int fd, unsigned long request, void *arg)
{
    return (int)syscall(SYS_ioctl, fd, request, arg);
}

int sys_renameat2(int from, const char *from_path, int to, const char *to_path,
                  unsigned flags)
{
    return (int)syscall(SYS_renameat2, from, from_path, to, to_path, flags);
}

ssize_t sys_getdents64(int fd, void *list, size_t size)
{
    return syscall(SYS_getdents64, fd, list, size);
}

int sys_getrlimit(int which, struct rlimit *now)
{
    return (int)syscall(SYS_prlimit64, 0, which, NULL, now);
}

int sys_setrlimit(int which, const struct rlimit *want)
{
    return (int)syscall(SYS_prlimit64, 0, which, want, NULL);
}
