/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karzer.h - run code nobody reviewed, from C. The whole public API.
 *
 * Link with -lkarzer, nothing else (see karzer.pc). The library starts the
 * program `karzer engine` and talks to it over a socket: your program gets no
 * threads, no signal handlers and no descriptors but that one. Either side
 * notices the death of the other; when yours ends, every sandbox ends.
 *
 * A function that can fail returns 0, or -1 and, unless `err` is NULL, an error
 * that you free; it then changed nothing that you hold. A handle may be used by
 * one thread at a time. Texts are UTF-8; what a getter returns belongs to the
 * handle and lives as long. Freeing NULL is fine.
 */
#ifndef KARZER_H
#define KARZER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct karzer karzer;                 /* a running engine */
typedef struct karzer_sandbox karzer_sandbox; /* a place to run code in */
typedef struct karzer_result karzer_result;   /* what came out of one run */
typedef struct karzer_error karzer_error;

/* ---- errors ---- */

enum karzer_error_code {
    KARZER_ERROR_INVALID = 1, /* what you asked for is malformed */
    KARZER_ERROR_DENIED,      /* well formed, and policy said no */
    KARZER_ERROR_LIMIT,       /* too large, too many */
    KARZER_ERROR_HOST,        /* this machine cannot do it; the text says why */
    KARZER_ERROR_INTERNAL,    /* a bug, or an outcome that is not known */
    KARZER_ERROR_ENGINE       /* the engine ended or does not answer */
};

enum karzer_error_code karzer_error_code(const karzer_error *err);
const char *karzer_error_text(const karzer_error *err); /* one line */
void karzer_error_free(karzer_error *err);

/* ---- the engine ---- */

/* `program` is the path of karzer; NULL: the one that was installed with this
 * library. */
int karzer_open(const char *program, karzer **out, karzer_error **err);

/* Ends every sandbox and waits for the engine. Free your sandboxes first. */
void karzer_close(karzer *k);

/* ---- sandboxes ---- */

/* `tier`: "process", "container", ...; NULL: the strongest of this host.
 * Nothing starts before the first put, get, run or exec, which is also where a
 * tier that does not exist is told. */
int karzer_sandbox_new(karzer *k, const char *tier, karzer_sandbox **out,
                       karzer_error **err);

/* Before the first use. By the names and in the units of docs/limits.md:
 * "mem_bytes", "cpu_milli", "cpu_time_ms", "wall_ms", "pids", "disk_bytes",
 * "inodes", "nofile", "output_bytes". A name or a value that is not allowed is
 * an error of the first use, not of this call. */
int karzer_sandbox_limit(karzer_sandbox *sb, const char *name, uint64_t value,
                         karzer_error **err);

/* Before the first use. "lang" (python, node, bash), "env" (K=V; repeat it),
 * "workspace" (DIR, DIR:ro or DIR:rw), "interpreter" (one of the host, its tree
 * or a venv; "python" is the same), "template" (the name of one: its tree is
 * seen in place of the host's programs), "may-lack" (a mechanism that may be
 * missing; repeat it). Another name is an error here; a value that is not
 * allowed is one of the first use. */
int karzer_sandbox_option(karzer_sandbox *sb, const char *name,
                          const char *text, karzer_error **err);

/* A file into the sandbox, at an absolute path inside; at most 256 MiB. */
int karzer_sandbox_put(karzer_sandbox *sb, const char *path, const void *data,
                       size_t len, karzer_error **err);

/* A file out of it: *data is yours to free(), with a NUL after the end. */
int karzer_sandbox_get(karzer_sandbox *sb, const char *path, void **data,
                       size_t *len, karzer_error **err);

/*
 * Runs a block of code and waits. 0 means that there is a result, also of code
 * that failed: look at its status.
 *
 * Blocks share their variables until the interpreter ends: by os._exit, by a
 * signal, or when the kernel ends it for memory. The result's message says so;
 * the next block starts a new one, and files are still there. "timeout",
 * "output" and "killed", and "memory" or "disk" where karzer itself had to end
 * it, end the sandbox: what is called then gives "unavailable" or an error, and
 * all that is left to do is to free it.
 */
int karzer_sandbox_run(karzer_sandbox *sb, const char *code, size_t len,
                       karzer_result **out, karzer_error **err);

/* Runs a program: argv ends with NULL. */
int karzer_sandbox_exec(karzer_sandbox *sb, const char *const argv[],
                        karzer_result **out, karzer_error **err);

/* Kills what still runs inside and removes it all. */
void karzer_sandbox_free(karzer_sandbox *sb);

/* ---- results ---- */

/* Why the run ended: "ok", "error", "timeout", "memory", "processes", "disk",
 * "output", "killed", "denied", "unavailable", "internal". */
const char *karzer_result_status(const karzer_result *r);

/* A sentence about it, or "". */
const char *karzer_result_message(const karzer_result *r);

int karzer_result_exit_code(const karzer_result *r); /* -1: there is none */
int karzer_result_signal(const karzer_result *r);    /* 0: none */

/* The kept bytes, with a NUL after the end; *len (may be NULL): how many. */
const char *karzer_result_stdout(const karzer_result *r, size_t *len);
const char *karzer_result_stderr(const karzer_result *r, size_t *len);

/* An uncaught exception; NULL: there is none. */
const char *karzer_result_error_name(const karzer_result *r);
const char *karzer_result_error_value(const karzer_result *r);
const char *karzer_result_error_traceback(const karzer_result *r);

/* Displayed values, each in one or more mime types. Past the end: 0, NULL. */
size_t karzer_result_values(const karzer_result *r);
size_t karzer_result_mimes(const karzer_result *r, size_t value);
const char *karzer_result_mime(const karzer_result *r, size_t value, size_t n);

/* The value as this type: text and JSON as they are, everything else (such as
 * image/png) as bytes; a NUL follows. NULL: not in this type. */
const void *karzer_result_data(const karzer_result *r, size_t value,
                               const char *mime, size_t *len);

/* "wall_ms", "cpu_ms", "peak_memory_bytes", "peak_processes", "disk_bytes",
 * "net_bytes_in", "net_bytes_out", "create_us", "start_us", "run_us",
 * "destroy_us". docs/result.md says what they count. -1: it is not known, or
 * there is no such figure. */
int karzer_result_usage(const karzer_result *r, const char *name,
                        uint64_t *value);

/* All of it, as `karzer run --json` prints it: docs/result.md. */
const char *karzer_result_json(const karzer_result *r);

void karzer_result_free(karzer_result *r);

#ifdef __cplusplus
}
#endif

#endif
