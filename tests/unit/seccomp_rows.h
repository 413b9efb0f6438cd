/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that test_seccomp makes and what each must answer.
 */
#ifndef KARZER_TESTS_UNIT_SECCOMP_ROWS_H
#define KARZER_TESTS_UNIT_SECCOMP_ROWS_H

#include <asm/ioctls.h>
#include <asm/unistd_64.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "jail/seccomp.h"

#define HIGH (UINT64_C(0xdead) << 32)
#define HERE ((uint64_t)AT_FDCWD)
#define NOWHERE ((uint64_t)(uintptr_t) "/nonexistent/x")
#define ALL (SECCOMP_VARIANTS - 1)
#define FALLBACK                                                               \
    (SECCOMP_NO_NAMESPACES | SECCOMP_OLD_LANDLOCK | SECCOMP_NO_MEMFD |         \
     SECCOMP_NO_AFFINITY)
#define BARE SECCOMP_NO_NAMESPACES
#define OLD SECCOMP_OLD_LANDLOCK
#define MEM SECCOMP_NO_MEMFD
#define AFF SECCOMP_NO_AFFINITY
#define SHARED SECCOMP_SHARED_TREE

/* A call, and its errno without and with these variant bits; 0: it succeeds.
   PASS: it reaches the kernel, which says ENOENT, EBADF, EINVAL or EFAULT;
   NEWER: or ENOSYS, where the kernel is older than the call. */
#define PASS (-1)
#define NEWER (-2)
struct row {
    const char *what;
    long nr;
    uint64_t arg[6];
    int want;
    unsigned bits;
    int with;
};

/* clang-format off */
static const struct row namespaces[] = {
    {"clone user", __NR_clone, {CLONE_NEWUSER | SIGCHLD}, EPERM},
    {"clone net, high bits", __NR_clone, {HIGH | CLONE_NEWNET}, EPERM},
    {"clone mount", __NR_clone, {CLONE_NEWNS | CLONE_VFORK}, EPERM},
    {"clone cgroup", __NR_clone, {CLONE_NEWCGROUP}, EPERM},
    {"clone3", __NR_clone3, {0}, ENOSYS},
    {"unshare user", __NR_unshare, {CLONE_NEWUSER}, EPERM},
    {"unshare time", __NR_unshare, {CLONE_NEWTIME}, EPERM},
    {"unshare a high bit", __NR_unshare, {HIGH}, EPERM},
    {"unshare a new bit", __NR_unshare, {0x00100000}, EPERM},
    {"unshare files", __NR_unshare, {CLONE_FILES | CLONE_FS}, 0},
    {"setns", __NR_setns, {0, 0}, EPERM},
    {"chroot", __NR_chroot, {NOWHERE}, EPERM},
};

static const struct row sockets[] = {
    {"inet", __NR_socket, {AF_INET, SOCK_STREAM}, 0, BARE, EACCES},
    {"inet6 udp", __NR_socket, {AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 17}, 0,
     BARE, EACCES},
    {"unix", __NR_socket, {AF_UNIX, SOCK_STREAM}, 0, BARE, EACCES},
    {"unix, high bits", __NR_socket, {HIGH | AF_UNIX, SOCK_DGRAM}, 0, BARE,
     EACCES},
    {"route", __NR_socket, {AF_NETLINK, SOCK_RAW, 0}, 0, BARE, EACCES},
    {"netfilter", __NR_socket, {AF_NETLINK, SOCK_RAW, 12}, EPROTONOSUPPORT,
     BARE, EACCES},
    {"audit", __NR_socket, {AF_NETLINK, SOCK_RAW, 9}, EPROTONOSUPPORT, BARE,
     EACCES},
    {"mptcp", __NR_socket, {AF_INET, SOCK_STREAM, 262}, EPROTONOSUPPORT, BARE,
     EACCES},
    {"sctp", __NR_socket, {AF_INET6, SOCK_STREAM, 132}, EPROTONOSUPPORT, BARE,
     EACCES},
    {"sctp many", __NR_socket, {AF_INET, SOCK_SEQPACKET, 132},
     ESOCKTNOSUPPORT, BARE, EACCES},
    {"ping", __NR_socket, {AF_INET, SOCK_DGRAM, 1}, EPROTONOSUPPORT, BARE,
     EACCES},
    {"dccp", __NR_socket, {AF_INET, 6, 33}, ESOCKTNOSUPPORT, BARE, EACCES},
    {"raw", __NR_socket, {AF_INET, SOCK_RAW, 1}, EPERM, BARE, EACCES},
    {"packet", __NR_socket, {AF_PACKET, SOCK_RAW}, EAFNOSUPPORT, BARE, EACCES},
    {"vsock", __NR_socket, {40, SOCK_STREAM}, EAFNOSUPPORT, BARE, EACCES},
    {"alg", __NR_socket, {38, SOCK_SEQPACKET}, EAFNOSUPPORT, BARE, EACCES},
    {"key", __NR_socket, {15, SOCK_RAW, 2}, EAFNOSUPPORT, BARE, EACCES},
    {"xdp", __NR_socket, {44, SOCK_RAW}, EAFNOSUPPORT, BARE, EACCES},
    {"bluetooth", __NR_socket, {31, SOCK_RAW}, EAFNOSUPPORT, BARE, EACCES},
    {"inet pair", __NR_socketpair, {AF_INET, SOCK_STREAM}, EOPNOTSUPP},
    {"datagram pair", __NR_socketpair, {AF_UNIX, SOCK_DGRAM}, PASS, BARE,
     EACCES},
    {"raw pair is datagram", __NR_socketpair, {AF_UNIX, SOCK_RAW}, PASS, BARE,
     EACCES},
    {"stream pair", __NR_socketpair, {AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK},
     PASS},
    {"connect", __NR_connect, {9999}, EBADF, BARE, EACCES},
    {"TCP_ULP", __NR_setsockopt, {9999, IPPROTO_TCP, 31}, ENOENT},
    {"SO_SNDBUF", __NR_setsockopt, {9999, 1, 7}, EBADF, MEM, 0},
    {"SO_RCVBUF", __NR_setsockopt, {9999, 1, 8}, EBADF, MEM, 0},
    {"SO_SNDBUFFORCE", __NR_setsockopt, {9999, 1, 32}, EBADF, MEM, 0},
    {"SO_RCVBUF, high bits", __NR_setsockopt, {9999, HIGH | 1, HIGH | 8}, EBADF,
     MEM, 0},
    {"SO_REUSEADDR", __NR_setsockopt, {9999, SOL_SOCKET, SO_REUSEADDR}, EBADF},
    {"TCP_NODELAY", __NR_setsockopt, {9999, IPPROTO_TCP, 1}, EBADF},
};

static const struct row commands[] = {
    {"TIOCSTI", __NR_ioctl, {9999, TIOCSTI}, EPERM},
    {"TIOCSTI, high bits", __NR_ioctl, {9999, HIGH | TIOCSTI}, EPERM},
    {"TIOCLINUX, high bits", __NR_ioctl, {9999, HIGH | TIOCLINUX}, EPERM},
    {"TIOCSETD", __NR_ioctl, {9999, TIOCSETD}, EPERM},
    {"TIOCCONS", __NR_ioctl, {9999, TIOCCONS}, EPERM},
    {"TCGETS", __NR_ioctl, {9999, TCGETS}, EBADF},
    {"FIONBIO", __NR_ioctl, {9999, FIONBIO}, EBADF},
    {"FS_IOC_GETFLAGS", __NR_ioctl, {9999, FS_IOC_GETFLAGS}, EBADF},
    {"FS_IOC_SETFLAGS", __NR_ioctl, {9999, FS_IOC_SETFLAGS}, EBADF, BARE,
     ENOTTY},
    {"FS_IOC_SETFLAGS, high bits", __NR_ioctl, {9999, HIGH | FS_IOC_SETFLAGS},
     EBADF, BARE, ENOTTY},
    {"FS_IOC_FSSETXATTR", __NR_ioctl, {9999, FS_IOC_FSSETXATTR}, EBADF, BARE,
     ENOTTY},
    {"a btrfs snapshot", __NR_ioctl, {9999, 0x50009417}, EBADF, BARE, ENOTTY},
    {"F_SETLEASE", __NR_fcntl, {9999, F_SETLEASE}, EACCES},
    {"F_SETLEASE, high bits", __NR_fcntl, {9999, HIGH | F_SETLEASE}, EACCES},
    {"F_DUPFD_CLOEXEC", __NR_fcntl, {9999, F_DUPFD_CLOEXEC}, EBADF},
    {"F_OFD_SETLK", __NR_fcntl, {9999, F_OFD_SETLK}, EBADF},
    {"F_SETPIPE_SZ", __NR_fcntl, {9999, F_SETPIPE_SZ}, EBADF, MEM, EPERM},
    {"a newer fcntl", __NR_fcntl, {9999, 1040}, EINVAL},
    {"PR_SET_MM", __NR_prctl, {PR_SET_MM}, EPERM},
    {"PR_SET_MM, high bits", __NR_prctl, {HIGH | PR_SET_MM}, EPERM},
    {"PR_SCHED_CORE", __NR_prctl, {62}, EINVAL},
    {"PR_SET_MEMORY_MERGE", __NR_prctl, {67, 1}, EINVAL},
    {"PR_SET_PDEATHSIG", __NR_prctl, {PR_SET_PDEATHSIG, SIGKILL}, 0},
    {"PR_GET_NO_NEW_PRIVS", __NR_prctl, {PR_GET_NO_NEW_PRIVS}, 0},
    {"personality query", __NR_personality, {0xffffffff}, 0},
    {"READ_IMPLIES_EXEC", __NR_personality, {0x0400000}, EPERM},
    {"PER_LINUX32", __NR_personality, {8}, EPERM},
    {"ADDR_NO_RANDOMIZE", __NR_personality, {0x0040000}, 0},
    {"a nested listener", __NR_seccomp, {1, 8}, EINVAL},
    {"a nested log", __NR_seccomp, {1, 2}, EINVAL},
    {"a nested filter", __NR_seccomp, {1, 0}, EFAULT},
};

static const struct row files[] = {
    {"open", __NR_open, {NOWHERE, O_RDONLY, 06777}, ENOENT},
    {"openat", __NR_openat, {HERE, NOWHERE, O_RDWR, 06777}, ENOENT},
    {"openat2", __NR_openat2, {HERE, NOWHERE}, ENOSYS},
    {"make", __NR_openat, {HERE, NOWHERE, O_CREAT | O_WRONLY, 0755}, ENOENT},
    {"make setuid", __NR_openat, {HERE, NOWHERE, O_CREAT | O_WRONLY, 04755},
     ENOENT, SHARED | BARE, EPERM},
    {"make setgid", __NR_open, {NOWHERE, O_CREAT | O_WRONLY, 02755}, ENOENT,
     SHARED | BARE, EPERM},
    {"make setgid, high bits", __NR_open,
     {NOWHERE, HIGH | O_CREAT | O_WRONLY, HIGH | 02755}, ENOENT, SHARED | BARE,
     EPERM},
    {"tmpfile setuid", __NR_openat, {HERE, NOWHERE, O_TMPFILE | O_RDWR, 04700},
     ENOENT, SHARED | BARE, EPERM},
    {"creat", __NR_creat, {NOWHERE, 0755}, ENOENT},
    {"creat setuid", __NR_creat, {NOWHERE, 04755}, ENOENT, SHARED | BARE,
     EPERM},
    {"chmod", __NR_chmod, {NOWHERE, 0755}, ENOENT, BARE, EPERM},
    {"chmod setuid", __NR_chmod, {NOWHERE, 04755}, ENOENT, SHARED | BARE,
     EPERM},
    {"fchmod", __NR_fchmod, {9999, 0755}, EBADF, BARE, EPERM},
    {"fchmod setgid", __NR_fchmod, {9999, 02755}, EBADF, SHARED | BARE, EPERM},
    {"fchmodat", __NR_fchmodat, {HERE, NOWHERE, 0755}, ENOENT, BARE, EPERM},
    {"fchmodat setgid", __NR_fchmodat, {HERE, NOWHERE, 02755}, ENOENT,
     SHARED | BARE, EPERM},
    {"fchmodat2 setuid", 452, {HERE, NOWHERE, 04755}, NEWER, SHARED | BARE,
     EPERM},
    {"chown", __NR_chown, {NOWHERE, 0, 0}, ENOENT, BARE, EPERM},
    {"fchown", __NR_fchown, {9999, 0, 0}, EBADF, BARE, EPERM},
    {"utimensat", __NR_utimensat, {HERE, NOWHERE}, ENOENT, BARE, EPERM},
    {"utimensat by fd", __NR_utimensat, {9999}, EBADF, BARE, EPERM},
    {"fsetxattr", __NR_fsetxattr, {9999}, PASS, BARE, EPERM},
    {"mkfifo", __NR_mknodat, {HERE, NOWHERE, S_IFIFO | 0600}, ENOENT},
    {"mknod socket", __NR_mknod, {NOWHERE, S_IFSOCK | 0600}, ENOENT},
    {"mknod char", __NR_mknod, {NOWHERE, S_IFCHR | 0600, 0x103}, EPERM},
    {"mknod block", __NR_mknodat, {HERE, NOWHERE, S_IFBLK | 0600}, EPERM},
    {"mknod char, high bits", __NR_mknodat,
     {HERE, NOWHERE, HIGH | 0xf0000 | S_IFCHR}, EPERM},
    {"mknod setuid", __NR_mknod, {NOWHERE, S_IFREG | 04755}, ENOENT,
     SHARED | BARE, EPERM},
    {"mknodat setgid", __NR_mknodat, {HERE, NOWHERE, S_IFREG | 02755}, ENOENT,
     SHARED | BARE, EPERM},
    {"truncate", __NR_truncate, {NOWHERE, 0}, ENOENT, OLD, EACCES},
    {"O_TRUNC for reading", __NR_openat, {HERE, NOWHERE, O_TRUNC}, ENOENT, OLD,
     EACCES},
    {"O_TRUNC with mode 3", __NR_open, {NOWHERE, O_TRUNC | 3}, ENOENT, OLD,
     EACCES},
    {"O_TRUNC for writing", __NR_openat, {HERE, NOWHERE, O_TRUNC | O_WRONLY},
     ENOENT},
    {"inotify", __NR_inotify_init1, {0}, 0, BARE, ENOSYS},
    {"open_by_handle_at", __NR_open_by_handle_at, {0}, EPERM},
    {"name_to_handle_at", __NR_name_to_handle_at, {0}, EOPNOTSUPP},
};

static const struct row resources[] = {
    {"memfd", __NR_memfd_create, {NOWHERE, 1}, PASS, MEM, ENOSYS},
    {"huge memfd", __NR_memfd_create, {NOWHERE, 5}, EINVAL, MEM, ENOSYS},
    {"memfd_secret", __NR_memfd_secret, {0}, ENOSYS},
    {"huge mmap", __NR_mmap, {0, 2 << 20, 3, 0x40022, ~0ull}, ENOMEM},
    {"huge shared mmap", __NR_mmap, {0, 2 << 20, 3, 0x40021, ~0ull}, ENOMEM},
    {"mmap", __NR_mmap, {0, 4096, 7, 0x22, ~0ull}, 0},
    {"madvise", __NR_madvise, {0, 0, 4}, 0},
    {"MADV_MERGEABLE", __NR_madvise, {0, 0, 12}, EINVAL},
    {"vmsplice", __NR_vmsplice, {9999}, EBADF, MEM, ENOSYS},
    {"shmctl", __NR_shmctl, {~0ull, ~0ull}, EINVAL, MEM | BARE, ENOSYS},
    {"msgctl", __NR_msgctl, {~0ull, ~0ull}, EINVAL, MEM | BARE, ENOSYS},
    {"huge shm", __NR_shmget, {0, 4096, 0x800}, EPERM, MEM | BARE, ENOSYS},
    {"mq_open", __NR_mq_open, {0}, EFAULT, BARE, ENOSYS},
    {"affinity", __NR_sched_setaffinity, {0, 0, 0}, PASS, AFF, EPERM},
    {"affinity of another", __NR_sched_setaffinity, {0x7fffffff, 0, 0}, PASS,
     AFF | BARE, EPERM},
    {"nice", __NR_setpriority, {0, 0, 0}, 0},
    {"nice of another", __NR_setpriority, {0, 0x7fffffff, 0}, ESRCH, BARE,
     EPERM},
    {"nice of a user", __NR_setpriority, {PRIO_USER, 0x7ffffff0, 0}, PASS, BARE,
     EPERM},
    {"scheduler of another", __NR_sched_setscheduler, {0x7fffffff}, PASS, BARE,
     EPERM},
    {"limits of another", __NR_prlimit64, {0x7fffffff, RLIMIT_NOFILE}, ESRCH,
     BARE, EPERM},
    {"own limits", __NR_prlimit64, {HIGH, RLIMIT_NOFILE}, 0},
    {"read the core limit", __NR_prlimit64, {0, RLIMIT_CORE}, 0},
    {"set the core limit", __NR_prlimit64, {0, RLIMIT_CORE, 1}, 0},
    {"set it, upper half", __NR_prlimit64, {0, RLIMIT_CORE, HIGH}, 0},
    {"swap the core limit", __NR_prlimit64, {0, RLIMIT_CORE, 1, 1}, EPERM},
    {"setrlimit core", __NR_setrlimit, {RLIMIT_CORE, 1}, 0},
    {"setrlimit nofile", __NR_setrlimit, {RLIMIT_NOFILE, 1}, EFAULT},
    {"io_uring", __NR_io_uring_setup, {1, 0}, ENOSYS},
    {"aio", __NR_io_setup, {1, 0}, ENOSYS},
};

static const struct row unknown[] = {
    {"a call of the future", 471, {0}, ENOSYS},
    {"another", 500, {0}, ENOSYS},
    {"the gap", 400, {0}, ENOSYS},
    {"a negative call", -2, {0}, ENOSYS},
    {"x32 getpid", 0x40000000 | __NR_getpid, {0}, ENOSYS},
    {"x32 mount", 0x40000000 | __NR_mount, {0}, ENOSYS},
    {"x32 of the old kind", 0x40000000 | 512, {0}, ENOSYS},
};
/* clang-format on */

#endif
