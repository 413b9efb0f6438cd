/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request - what a client asked for: parsed, bounded, owned.
 *
 * Made by the CLI's option table or from JSON (op.c); read by policy.c alone.
 * A tier never sees one.
 */
#ifndef KARZER_CORE_REQUEST_H
#define KARZER_CORE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/strs.h"
#include "src/core/limits.h"
#include "src/core/view.h"

#define RUN_ID_SIZE 27 /* 26 characters of [0-9a-z], sortable by time, NUL */
#define REQUEST_FILES_MAX 256u

struct file_pair {
    char *from;
    char *to;
};

struct request {
    char id[RUN_ID_SIZE];
    char *tier; /* NULL: auto */

    /* what runs: a block of code of `lang`, or argv when lang is NULL */
    char *lang;       /* of languages.def */
    char *code;       /* NULL for a session that gets its blocks later */
    size_t code_len;  /* may hold NULs */
    char *code_name;  /* what tracebacks call it: "<code>" or a path */
    struct strs argv; /* with lang: sys.argv[1:] */

    struct limits limits;
    bool output_kill;
    bool has_stdin; /* the client will send stdin */
    bool terminal;  /* the program gets one of its own, of this size */
    uint16_t rows, columns;
    struct strs env;                         /* K=V */
    struct file_pair in[REQUEST_FILES_MAX];  /* host path : cell path */
    struct file_pair out[REQUEST_FILES_MAX]; /* cell path : host path */
    size_t in_count, out_count;
    struct view *view; /* owned; NULL: the usual view */
    char *workspace;   /* absolute host path, or NULL */
    bool workspace_rw;
    char *interpreter; /* host path of one, its tree or a venv, or NULL */
    char *template;    /* name of a template, or NULL: the host's programs */
    uint64_t may_lack; /* bit per enum holder_mechanism */
};

/* Default limits and a fresh id. */
int request_init(struct request *req, struct err *err);
void request_fini(struct request *req);

/* Sizes, counts, characters, contradictions. ERR_INVALID. */
int request_check(const struct request *req, struct err *err);

/* "HOST:CELL" into the list; a ':' in a name is written "\:". A CELL that ends
 * in '/' is a directory: HOST's own name is put behind it. */
int request_add_in(struct request *req, const char *text, struct err *err);
int request_add_out(struct request *req, const char *text, struct err *err);

/* The directory that is shown: opened and known by its real name from here on;
 * no link that a cell may have made leads to it (src/base/path.h). */
int request_workspace(struct request *req, const char *dir, bool rw,
                      struct err *err);

/* By name, as in --may-lack. */
int request_add_may_lack(struct request *req, const char *name,
                         struct err *err);

#endif
