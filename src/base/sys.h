/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sys - Linux system calls that libc of Debian 12 lacks or wraps badly.
 *
 * Thin: same meaning and errno as the manual pages say. The only file that
 * calls syscall(2).
 */
#ifndef KARZER_BASE_SYS_H
#define KARZER_BASE_SYS_H

#include <linux/openat2.h>
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* libc's own header may lack the mount calls, or have them all. */
#include <sys/mount.h>
#ifndef MOUNT_ATTR_RDONLY
#include <linux/mount.h>
#endif
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1u
#endif

struct rlimit;

int sys_pidfd_send_signal(int pidfd, int sig);
int sys_pidfd_send_info(int pidfd, int sig, siginfo_t *info);
int sys_rt_tgsigqueueinfo(pid_t process, pid_t thread, int sig,
                          siginfo_t *info);
int sys_pidfd_open(pid_t pid, unsigned flags);
int sys_pidfd_getfd(int pidfd, int fd);
int sys_openat2(int dirfd, const char *path, const struct open_how *how);
int sys_open_tree(int dirfd, const char *path, unsigned flags);
int sys_move_mount(int from, const char *from_path, int to, const char *to_path,
                   unsigned flags);
int sys_fsopen(const char *fs, unsigned flags);
int sys_fsconfig(int fd, unsigned cmd, const char *key, const void *value,
                 int aux);
int sys_fsmount(int fd, unsigned flags, unsigned attr_flags);
int sys_mount_setattr(int dirfd, const char *path, unsigned flags,
                      const struct mount_attr *attr, size_t size);
int sys_pivot_root(const char *new_root, const char *put_old);
int sys_close_range(unsigned first, unsigned last, unsigned flags);
/* As fork() with these flags and no shared memory; no atfork handlers run.
   Where clone3() is refused as unknown, by clone(). */
pid_t sys_clone3(const struct clone_args *args);
int sys_execveat(int fd, const char *path, char *const argv[],
                 char *const envp[], int flags);
int sys_seccomp(unsigned op, unsigned flags, void *arg);
int sys_capset(const void *header, const void *data);
int sys_landlock_create_ruleset(const void *attr, size_t size, unsigned flags);
int sys_landlock_add_rule(int fd, unsigned type, const void *attr,
                          unsigned flags);
int sys_landlock_restrict_self(int fd, unsigned flags);
/* Raw, of this thread alone: libc's tells every thread, which a vfork child
   or a single-threaded holder must not pay for. */
int sys_setresuid(uid_t uid);
int sys_setresgid(gid_t gid);
int sys_setgroups(size_t n, const gid_t *list);
int sys_tgkill(pid_t process, pid_t thread, int sig);
int sys_ioctl(int fd, unsigned long request, void *arg);
int sys_renameat2(int from, const char *from_path, int to, const char *to_path,
                  unsigned flags);
ssize_t sys_getdents64(int fd, void *list, size_t size);
int sys_getrlimit(int which, struct rlimit *now);
int sys_setrlimit(int which, const struct rlimit *want);

#endif
