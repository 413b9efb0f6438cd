/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result - what came out of a run, honestly.
 *
 * result_decide() is a pure function from evidence to status. A figure that
 * cannot be known is RESULT_UNKNOWN (null in JSON), never 0.
 */
#ifndef KARZER_CORE_RESULT_H
#define KARZER_CORE_RESULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi/holder.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/core/request.h"
#include "src/core/template.h"

/* name, exit code of `karzer run` (-1: the program's own), what it means */
#define STATUSES(S)                                                            \
    S(INTERNAL, "internal", 125, "the outcome is not known")                   \
    S(UNAVAILABLE, "unavailable", 125, "this host cannot do it")               \
    S(DENIED, "denied", 125, "refused before the start")                       \
    S(KILLED, "killed", 137, "ended by the client or the operator")            \
    S(TIMEOUT, "timeout", 124, "wall or processor time ran out")               \
    S(OUTPUT, "output", 137, "more output than allowed")                       \
    S(MEMORY, "memory", 137, "ended for lack of memory")                       \
    S(PROCESSES, "processes", -1, "ended for lack of processes")               \
    S(DISK, "disk", -1, "ended for lack of scratch space")                     \
    S(ERROR, "error", -1, "the program failed")                                \
    S(OK, "ok", -1, "the program succeeded")

enum status { /* in order of precedence; zero is never ok */
#define S(id, name, exit, what) STATUS_##id,
              STATUSES(S)
#undef S
                  STATUS_COUNT
};

extern const char *const status_names[STATUS_COUNT];

#define RESULT_UNKNOWN UINT64_MAX

/* Kept output: head and tail, and how much there was. */
struct output {
    struct buf head; /* first half of the cap */
    char *tail;      /* ring of the second half */
    size_t tail_cap, tail_at, tail_len;
    uint64_t total;
};

/* What is known about the end of a run; input of result_decide(). */
struct evidence {
    bool internal;    /* the outcome is not known */
    bool unavailable; /* could not start: the host */
    bool denied;      /* could not start: policy */
    bool killed;      /* by the client or the operator */
    bool wall;        /* karzer ended it for wall time */
    bool output;      /* karzer ended it for output */
    bool exited;      /* code and signal below are known */
    int code;
    int signal;
    uint32_t hits;         /* enum holder_limit_hit */
    int uncaught_errno;    /* from the runtime: ENOSPC, ENOMEM, EAGAIN, ... */
    bool memory_rlimit;    /* the memory mechanism gives ENOMEM */
    bool memory_elsewhere; /* the kernel killed, and not for this run's limit */
    bool memory_near; /* the most memory seen came within 1/8 of the limit */
    bool pids_rlimit; /* the pids mechanism gives EAGAIN without a counter */
};

/* The rlimit that stands for the memory limit refused some, as the program's
 * end shows. */
bool result_memory_refused(const struct evidence *ev);

enum status result_decide(const struct evidence *ev, const char **detail);

struct result {
    char id[RUN_ID_SIZE];
    enum status status;
    const char *detail; /* "wall", "cpu", "host"; NULL; static text */
    char message[480];  /* why, for people; "" when there is nothing to say */
    int exit_code;      /* -1: none */
    int signal;         /* 0: none */

    struct output out, err;
    json_t *results; /* array of mime bundles */
    json_t *error;   /* {name, value, traceback} or NULL */

    uint64_t wall_ms, cpu_ms, peak_memory_bytes, peak_processes, disk_bytes;
    uint64_t net_bytes_in, net_bytes_out;
    uint64_t create_us, start_us, run_us, destroy_us;

    const char *tier;                       /* NULL: never started */
    char template_name[TEMPLATE_NAME_SIZE]; /* "": none */
    char template_digest[SHA256_HEX_SIZE];
    bool started;    /* effective[] is known */
    bool out_failed; /* something did not come out that was asked for */
    uint8_t effective[HOLDER_MECHANISM_COUNT];
    json_t *boundary; /* array of this run's events, as recorded */
    json_t *files;    /* array of {path, host, size, sha256} that came out */
};

int result_init(struct result *r, uint64_t output_cap, struct err *err);
void result_fini(struct result *r);

/* {"name","sha256"}, or null for the name "". */
json_t *template_json(const char *name, const char *digest);

/* Its parts, as the record has them too; new references. */
json_t *result_usage(const struct result *r);
json_t *result_effective(const struct result *r);

/* One line of JSON, UTF-8, free() it. NULL: no memory. */
char *result_json(const struct result *r);

/* The exit status of `karzer run` and `exec` for it; 124 to 128+n as env(1) and
 * timeout(1). */
int result_exit_status(const struct result *r);

#endif
