/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err - one error idiom: functions return 0 or -1, `struct err *err` last.
 *
 * Each level adds what it was doing; only the edge (a main) prints. A NULL
 * `err` is allowed everywhere. Out-parameters are untouched on failure.
 */
#ifndef KARZER_BASE_ERR_H
#define KARZER_BASE_ERR_H

#include <stdarg.h>

enum err_code {
    ERR_NONE = 0,
    ERR_INVALID,  /* the caller asked for something malformed */
    ERR_DENIED,   /* well formed, and policy said no */
    ERR_LIMIT,    /* stopped by a limit the caller could know */
    ERR_HOST,     /* this machine cannot do it */
    ERR_INTERNAL, /* our bug, or an outcome that is not known */
};

struct err {
    enum err_code code;
    int sys;        /* errno, or 0 */
    char text[480]; /* "start cell: open /dev/null: Permission denied" */
};

/* Sets code and text. Always -1, so that it can be returned. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Same with ERR_HOST, errno and ": strerror". Keeps errno. */
int err_sys(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts "what: " before the text that is there. Always -1. */
int err_wrap(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
