/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tier - a way to hold untrusted code: one vtable each, one array.
 *
 * A cell is one live instance. Everything above the stream (commands, files,
 * runtimes) is the same for every tier and lives in src/cell.
 */
#ifndef KARZER_CORE_TIER_H
#define KARZER_CORE_TIER_H

#include <stdbool.h>
#include <sys/types.h>

#include "abi/holder.h"
#include "src/base/err.h"
#include "src/core/grant.h"

struct cell;

struct tier {
    const char *name;    /* as in requests: "container" */
    const char *promise; /* one line, shown by `karzer tiers` */

    /* READY tells which paths the program sees: nothing is sent before. */
    bool adapts;

    /* Its cells can have a template as their root. */
    bool has_root;

    /* Can this host do it? Cheap, no side effects; the reason and the fix are
     * in err. What it misses is found again, with certainty, by start. */
    int (*probe)(struct err *err);

    /* Confine first, then report ready. On -1 nothing is left running;
     * ERR_HOST: the host cannot do it (status `unavailable`). */
    int (*start)(const struct grant *grant, struct cell **out, struct err *err);
};

/* What the engine holds of a live cell. Open: run.c and src/cell poll it. */
struct cell {
    const struct tier *tier;
    int stream_fd;  /* to the agent (abi/agent.h); non-blocking */
    int control_fd; /* to the holder (abi/holder.h) */
    int pidfd;      /* the holder */
    pid_t holder;
    pid_t agent; /* host pid of the agent, for people and for signals */
    uint8_t effective[HOLDER_MECHANISM_COUNT]; /* enum holder_how */
    struct holder_usage usage;                 /* the latest known */
    bool ready;
    bool ended;         /* ENDED came: every process is dead, usage is final */
    bool asked;         /* HOLDER_ASK was sent and not yet answered */
    bool killed;        /* HOLDER_KILL was sent */
    struct err failure; /* why it could not start, or ended on its own */
    int mounts_fd;      /* the cell's mount namespace, until the stream ends */
    int slot_fd;
    unsigned slot;

    /* HOLDER_DENIED, not yet taken into the record. */
    struct holder_message *denied;
    size_t denied_count;
};

/* Waits until the holder is READY. -1: err says why; nothing is left. */
int cell_wait_ready(struct cell *cell, struct err *err);

/* So many messages at most wait to be recorded: what the holder tells between
 * two looks of ours, with room for a run that is not looked at. */
#define CELL_DENIED_MAX (2 * (HOLDER_DENIED_ONCE + HOLDER_DENIED_KINDS))

/* Reads what the holder says now (control_fd is readable). The bits of limits
 * that were hit since the last call are or-ed into *hits. */
int cell_read_control(struct cell *cell, uint32_t *hits, struct err *err);

/* The stream has ended. */
void cell_close_mounts(struct cell *cell);

/* The program has ended, the cell has not: the holder's own clock stops. */
void cell_over(struct cell *cell);

/* Asks the holder for usage and waits for the answer. */
int cell_ask_usage(struct cell *cell, struct err *err);

/* Asks the holder to kill everything inside; cell_read_control tells the end.
 */
void cell_kill(struct cell *cell);

/* Kills everything inside and waits for it: usage is final afterwards. May be
 * called twice. -1: the holder did not tell (usage holds unknowns). */
int cell_end(struct cell *cell, struct err *err);

/* After cell_end: waits for the holder to have cleaned up. NULL is fine. */
void cell_free(struct cell *cell);

/* Weakest first, ends with NULL; defined in src/tier/tiers.c. */
extern const struct tier *const tiers[];

const struct tier *tier_find(const char *name); /* NULL: no such */

/* Removes what dead runs left on this host: cgroups without a living owner. */
void tiers_sweep(const struct dirs *dirs);

/* The strongest whose probe succeeds; NULL with the weakest's reason. */
const struct tier *tier_strongest(struct err *err);

#endif
