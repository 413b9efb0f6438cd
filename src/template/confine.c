/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine - see confine.h. Called by build.c in a fresh child with one thread.
 * The list of system calls is what libarchive and put.c were seen to need, with
 * memory and the end; nothing here can open a socket, start a program, or touch
 * another process.
 */
#include "src/template/confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/slot.h"
#include "src/base/sys.h"

#define MEMORY_MAX (UINT64_C(2) << 30) /* a decompressor's window is in it */
#define SECONDS_MAX 3600u              /* of processor time */

static const unsigned calls[] = {
    SYS_read,          SYS_write,      SYS_pwrite64,     SYS_lseek,
    SYS_close,         SYS_openat,     SYS_openat2,      SYS_mkdirat,
    SYS_symlinkat,     SYS_linkat,     SYS_unlinkat,     SYS_fchmodat,
    SYS_ftruncate,     SYS_utimensat,  SYS_fstat,        SYS_newfstatat,
    SYS_dup,           SYS_brk,        SYS_mmap,         SYS_munmap,
    SYS_mremap,        SYS_madvise,    SYS_mprotect,     SYS_futex,
    SYS_getrandom,     SYS_getpid,     SYS_rt_sigreturn, SYS_exit,
    SYS_clock_gettime, SYS_exit_group,
};

#define ROWS_MAX 40
_Static_assert(ARRAY_LEN(calls) <= ROWS_MAX, "a filter has room for them");

static const unsigned owners[] = {
    SYS_chown,     SYS_fchown,   SYS_lchown,   SYS_fchownat, SYS_setgroups,
    SYS_setuid,    SYS_setgid,   SYS_setreuid, SYS_setregid, SYS_setresuid,
    SYS_setresgid, SYS_setfsuid, SYS_setfsgid,
};

int confine_identity(struct err *err)
{
    if (geteuid() != 0)
        return 0;
    if (sys_setgroups(0, NULL) < 0 || sys_setresgid(TEMPLATE_UID) < 0 ||
        sys_setresuid(TEMPLATE_UID) < 0)
        return err_sys(err, "become id %u", TEMPLATE_UID);
    return 0;
}

static int limit(int what, uint64_t most, struct err *err)
{
    const struct rlimit l = {.rlim_cur = most, .rlim_max = most};

    return setrlimit((__rlimit_resource_t)what, &l) < 0
               ? err_sys(err, "set a limit")
               : 0;
}

static int limits_set(const struct put_caps *caps, struct err *err)
{
    if (limit(RLIMIT_CORE, 0, err) < 0 || limit(RLIMIT_NOFILE, 64, err) < 0 ||
        limit(RLIMIT_FSIZE, caps->bytes, err) < 0 ||
        limit(RLIMIT_AS, MEMORY_MAX, err) < 0)
        return -1;
    return limit(RLIMIT_CPU, SECONDS_MAX, err);
}

#define READS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define MAKES                                                                  \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |          \
     LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |               \
     LANDLOCK_ACCESS_FS_MAKE_SYM)
#define REFER (UINT64_C(1) << 13)    /* since ABI 2: hard links, too */
#define TRUNCATE (UINT64_C(1) << 14) /* since ABI 3 */

/* All rights that the first version knows are handled: none is left over. */
static int landlock_enter(int tree, struct err *err)
{
    int abi = sys_landlock_create_ruleset(NULL, 0, 1);
    uint64_t more = abi >= 3 ? REFER | TRUNCATE : abi == 2 ? REFER : 0;
    struct landlock_ruleset_attr all = {.handled_access_fs = 0x1fff | more};
    struct landlock_path_beneath_attr rule = {
        .allowed_access = READS | MAKES | more, .parent_fd = tree};
    AUTO(fd) int set = -1;

    if (abi < 2) /* the first version refuses each hard link: rather none */
        return 1;
    set = sys_landlock_create_ruleset(&all, sizeof(all), 0);
    if (set < 0 ||
        sys_landlock_add_rule(set, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0 ||
        sys_landlock_restrict_self(set, 0) < 0)
        return err_sys(err, "Landlock");
    return 0;
}

#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)

/* For each row: is it this one? then `listed`, else `others`. */
static int filter_load(const unsigned *rows, size_t count, uint32_t listed,
                       uint32_t others, struct err *err)
{
    struct sock_filter code[2 * ROWS_MAX + 5];
    struct sock_fprog program = {.filter = code};
    unsigned short n = 0;

    code[n++] = (struct sock_filter)LOAD(offsetof(struct seccomp_data, arch));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                             AUDIT_ARCH_X86_64, 1, 0);
    code[n++] = (struct sock_filter)RETURN(SECCOMP_RET_KILL_PROCESS);
    code[n++] = (struct sock_filter)LOAD(offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < count; i++) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                 rows[i], 0, 1);
        code[n++] = (struct sock_filter)RETURN(listed);
    }
    code[n++] = (struct sock_filter)RETURN(others);
    program.len = n;
    return sys_seccomp(SECCOMP_SET_MODE_FILTER, 0, &program) < 0
               ? err_sys(err, "seccomp")
               : 0;
}

int confine_enter(int tree, const struct put_caps *caps, struct err *err)
{
    int r;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return err_sys(err, "prctl");
    if (limits_set(caps, err) < 0)
        return -1;
    r = landlock_enter(tree, err);
    if (r < 0 || filter_load(calls, ARRAY_LEN(calls), SECCOMP_RET_ALLOW,
                             SECCOMP_RET_ERRNO | EPERM, err) < 0)
        return -1;
    return r;
}

int confine_fake_owners(struct err *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_sys(err, "prctl");
    return filter_load(owners, ARRAY_LEN(owners), SECCOMP_RET_ERRNO | 0,
                       SECCOMP_RET_ALLOW, err);
}
