/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holder.h - the contract between the engine and a holder (karzer-jail).
 *
 * The engine starts a holder with four inherited descriptors and nothing in
 * argv or the environment. The holder confines first, then says READY on the
 * control socket. EOF on the control socket (the engine is gone) means: kill
 * the cell, remove what was made, exit.
 */
#ifndef KARZER_ABI_HOLDER_H
#define KARZER_ABI_HOLDER_H

#include <stddef.h>
#include <stdint.h>

#define HOLDER_VERSION 1u
#define HOLDER_MAGIC 0x6b7a6c72u

#define HOLDER_CONTROL_FD 3 /* AF_UNIX SOCK_SEQPACKET */
#define HOLDER_STREAM_FD 4  /* the cell's end of the agent stream */
#define HOLDER_HANDOFF_FD 5 /* sealed memfd: struct holder_handoff, strings */
#define HOLDER_SLOT_FD 6    /* keeps the slot's lock, and takes its note */

#define HOLDER_MOUNTS_MAX 256u
#define HOLDER_WALL_GRACE_MS 1000u
#define HOLDER_SCRATCH "/dev/shm" /* counted as memory of who writes there */
#define HOLDER_HANDOFF_MAX (1u << 20)
/* DENIED messages between two moments at which the engine reads: so many are
   told at once; and so many kinds are told apart. */
#define HOLDER_DENIED_ONCE 64u
#define HOLDER_DENIED_KINDS 512u
#define HOLDER_DENIED_TOTAL 1u /* in value: only the count is new */

enum holder_tier {
    HOLDER_TIER_NONE = 0,
    HOLDER_TIER_PROCESS,
    HOLDER_TIER_CONTAINER,
};

/* One row per mechanism: id, name as in --may-lack, what it is. */
#define HOLDER_MECHANISMS(M)                                                   \
    M(USERS, "users", "who the code runs as")                                  \
    M(FILES, "files", "what of the file system it sees")                       \
    M(PROCESSES, "processes", "which processes it sees and can signal")        \
    M(NETWORK, "network", "what it can connect to")                            \
    M(IPC, "ipc", "System V IPC and message queues")                           \
    M(HOSTNAME, "hostname", "the UTS namespace")                               \
    M(CGROUPNS, "cgroup-view", "the cgroup namespace")                         \
    M(CLOCK, "clock", "the time namespace: uptime starts at 0")                \
    M(SYSCALLS, "syscalls", "which system calls it can make")                  \
    M(MEMORY, "memory", "the limit on memory")                                 \
    M(SWAP, "swap", "no swap for the cell")                                    \
    M(PIDS, "pids", "the limit on processes and threads")                      \
    M(CPU, "cpu", "the share of the processors")                               \
    M(CPU_TIME, "cpu-time", "the limit on processor time")                     \
    M(DISK, "disk", "the limit on scratch bytes and files")                    \
    M(OBSERVER, "observer", "a record of the system calls that were refused")

enum holder_mechanism {
#define M(id, name, what) HOLDER_##id,
    HOLDER_MECHANISMS(M)
#undef M
        HOLDER_MECHANISM_COUNT
};

/* How a mechanism is in force. Zero means not at all. Text: what people see. */
#define HOLDER_HOWS(H)                                                         \
    H(MISSING, "missing")                                                      \
    H(USERNS_OWN, "user namespace, an id of its own")                          \
    H(USERNS_CALLER, "user namespace, the caller's id")                        \
    H(OWN_ID, "an id of its own")                                              \
    H(CALLER_ID, "the caller's id")                                            \
    H(NAMESPACE, "namespace")                                                  \
    H(OUTER_PROC, "namespace; the /proc around it is seen")                    \
    H(PRIVATE_ROOT, "private read-only root")                                  \
    H(MOUNT_VIEW, "private view of listed host paths")                         \
    H(LANDLOCK, "Landlock")                                                    \
    H(LANDLOCK_SCOPE, "Landlock scope")                                        \
    H(SUPERVISED, "signals sent by the holder")                                \
    H(SECCOMP, "seccomp")                                                      \
    H(SECCOMP_ALLOW, "seccomp allow list")                                     \
    H(CGROUP1, "cgroup v1")                                                    \
    H(CGROUP2, "cgroup v2")                                                    \
    H(SAMPLED, "sampled sum")                                                  \
    H(SAMPLED_CGROUP, "sampled cgroup counter")                                \
    H(RLIMIT, "rlimit")                                                        \
    H(COUNTED, "counted at each fork")                                         \
    H(AFFINITY, "processor affinity")                                          \
    H(TMPFS, "tmpfs with a size")                                              \
    H(NO_SWAP, "the host has none")                                            \
    H(LISTENER, "seccomp notification")

enum holder_how {
#define H(id, text) HOLDER_HOW_##id,
    HOLDER_HOWS(H)
#undef H
        HOLDER_HOW_COUNT
};

struct holder_limits {
    uint64_t mem_bytes;
    uint64_t disk_bytes;  /* scratch */
    uint64_t inodes;      /* scratch */
    uint64_t cpu_milli;   /* 1000: one processor */
    uint64_t cpu_time_ms; /* sum of all processes; 0: none */
    uint64_t pids;        /* processes and threads of the program */
    uint64_t nofile;
    uint64_t wall_ms; /* a backstop for an engine that is stopped or blocked:
                         from READY, plus HOLDER_WALL_GRACE_MS; 0: none */
};

enum holder_mount_flag {
    HOLDER_MOUNT_RW = 1,       /* otherwise read-only */
    HOLDER_MOUNT_OPTIONAL = 2, /* a source that does not exist is skipped */
    HOLDER_MOUNT_OWNED = 4,    /* what is made there belongs to owner_* */
    /* Not of the host, and only in a bare view: */
    HOLDER_MOUNT_DIR = 8,   /* an empty directory of scratch, with `mode` */
    HOLDER_MOUNT_KEEP = 64, /* with DIR: unless something is there already */
    HOLDER_MOUNT_FILE =
        16, /* a file of scratch, the `size` bytes at `source` */
    HOLDER_MOUNT_LINK = 32, /* a symbolic link to the text at `source` */
};
#define HOLDER_MOUNT_MADE                                                      \
    (HOLDER_MOUNT_DIR | HOLDER_MOUNT_FILE | HOLDER_MOUNT_LINK)

/* A host path that the cell sees: a directory or a file, bound. */
struct holder_mount {
    uint32_t source; /* offset in the hand-off of a NUL-terminated path */
    uint32_t target; /* ditto: absolute path inside */
    uint32_t flags;
    uint32_t owner_uid; /* with OWNED */
    uint32_t owner_gid;
    uint32_t size; /* with FILE */
    uint32_t mode; /* with DIR and FILE: permission bits */
};

enum holder_flag {
    /* container: nothing of the host's but the mounts; no /usr, /etc, /home */
    HOLDER_BARE = 1,
    HOLDER_BARE_SYS = 2, /* with what the container has of /sys */
};

/* Offsets are from the start of the hand-off; 0 means not given. */
struct holder_handoff {
    uint32_t magic;
    uint32_t version;
    uint32_t size; /* of all, strings included */
    uint32_t tier; /* enum holder_tier */
    uint32_t slot; /* names the cgroups: "karzer-<slot>" */
    uint32_t uid;  /* an unused host id for the cell; 0: keep the caller's */
    uint32_t gid;
    uint32_t mount_count;
    uint32_t mounts;  /* offset of struct holder_mount[mount_count] */
    uint32_t agent;   /* host path of the agent's program */
    uint32_t scratch; /* a host directory that this user may make files in: only
                         used where no mount is possible */
    uint32_t root;    /* container: a host directory, the tree of a template,
                         that is seen in place of the host's /usr and /etc */
    uint64_t may_lack; /* bit per enum holder_mechanism */
    struct holder_limits limits;
    uint32_t flags;    /* enum holder_flag */
    uint32_t hostname; /* container: its name, or 0 for the usual one */
    uint32_t seen_uid; /* with BARE: who the program is inside, where a user */
    uint32_t seen_gid; /* namespace can say so */
};

/* Control socket: one struct holder_message per packet, both directions. */
enum holder_message_type {
    HOLDER_NONE = 0,

    /* holder to engine */
    HOLDER_READY,  /* effective[], agent_pid; confined, the agent runs */
    HOLDER_FAILED, /* text, sys, mechanism; nothing is left running */
    HOLDER_LIMIT,  /* a limit was hit; value is an enum holder_limit_hit */
    HOLDER_USAGE,  /* answer to HOLDER_ASK */
    HOLDER_ENDED,  /* usage: every process of the cell is dead */
    HOLDER_DENIED, /* denied, text: the program's file; a call was refused */

    /* engine to holder */
    HOLDER_KILL, /* kill every process of the cell */
    HOLDER_ASK,  /* for HOLDER_USAGE */
    HOLDER_OVER, /* the program has ended: the wall clock stops; files may still
                    come out */
};

/* Evidence, as bits in holder_usage.hits and as the value of HOLDER_LIMIT. */
enum holder_limit_hit {
    HOLDER_HIT_NONE = 0,
    HOLDER_HIT_MEMORY_OOM = 1,    /* a process was killed for memory, by the
                                     kernel or by the holder */
    HOLDER_HIT_MEMORY_KILLED = 2, /* the holder killed the cell for memory: no
                                     process held what was too much */
    HOLDER_HIT_PIDS = 4,          /* a fork was refused */
    HOLDER_HIT_DISK_FULL = 8,     /* scratch was seen without space or inodes */
    HOLDER_HIT_DISK_KILLED = 16,  /* the holder killed the cell for disk */
    HOLDER_HIT_CPU_TIME_KILLED = 32, /* the holder killed the cell for CPU */
    HOLDER_HIT_WALL_KILLED = 64, /* the holder killed the cell for wall time */
};

#define HOLDER_UNKNOWN UINT64_MAX /* a figure that cannot be known */

struct holder_usage {
    uint64_t cpu_us;
    uint64_t peak_memory_bytes;
    uint64_t kernel_peak_bytes; /* as the kernel counts it, scratch included */
    uint64_t peak_processes;
    uint64_t disk_bytes;   /* scratch in use now (at ENDED: at the end) */
    uint64_t memory_kills; /* processes killed for memory, by either */
    uint64_t forks_refused;
    uint32_t hits; /* enum holder_limit_hit bits, since the start */
    uint32_t zero;
};

/*
 * A system call that was refused: the numbers of its last occasion. The first
 * of a kind (call and errno) are told at once; the exact count before each
 * answer to HOLDER_ASK, which also starts the count again, and before
 * HOLDER_ENDED.
 */
struct holder_denied {
    int32_t nr;    /* -1: any of the kinds that were too many to be kept */
    uint32_t arch; /* AUDIT_ARCH_* */
    int32_t error; /* the errno that was answered */
    uint32_t zero;
    uint64_t count; /* how many times so far */
    uint64_t arg[6];
    char comm[16]; /* the thread's name, as the cell chose it */
};

struct holder_message {
    uint32_t type;
    int32_t sys;        /* errno with FAILED */
    uint32_t mechanism; /* with FAILED: HOLDER_MECHANISM_COUNT when none */
    uint32_t value;
    int32_t agent_pid; /* as the engine's pid namespace sees it */
    uint8_t effective[HOLDER_MECHANISM_COUNT]; /* enum holder_how */
    uint8_t zero[16];
    union {
        struct holder_usage usage;
        struct holder_denied denied;
    };
    char text[256];
};

#endif
