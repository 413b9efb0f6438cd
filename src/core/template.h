/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template - a root file system that cells share, found by name.
 *
 * Below <state>/templates: names/NAME holds a digest, trees/DIGEST the tree
 * ("root") and its manifest. A run only reads here; karzer-template makes and
 * removes. Whoever uses a tree holds a shared lock on its directory, and with
 * such a lock it is not removed (docs/templates.md).
 */
#ifndef KARZER_CORE_TEMPLATE_H
#define KARZER_CORE_TEMPLATE_H

#include <stdbool.h>

#include "src/base/err.h"
#include "src/base/sha256.h"
#include "src/core/dirs.h"

#define TEMPLATE_NAME_SIZE 65 /* 64 characters and NUL */
#define TEMPLATE_DIR "templates"
#define TEMPLATE_PATH_MAX (DIRS_PATH_MAX + 128)

struct template
{
    char name[TEMPLATE_NAME_SIZE];
    char digest[SHA256_HEX_SIZE];
    char root[TEMPLATE_PATH_MAX]; /* host path of the tree */
    int fd;                       /* its directory, locked for sharing */
};

/* One path component of [a-z0-9._-] that starts with a letter or a digit. */
bool template_name_ok(const char *name);

/* The same, with a sentence: ERR_INVALID. */
int template_name_check(const char *name, struct err *err);

/* 64 lower-case hex digits? */
bool template_digest_ok(const char *text);

/* What a name stands for, below the store's directory. ERR_HOST: there is no
 * such template. */
int template_resolve(int store, const char *name, char digest[SHA256_HEX_SIZE],
                     struct err *err);

/* Finds and locks; template_close() it. ERR_HOST: there is none, and how one is
 * made. */
int template_open(const char *state, const char *name, struct template **out,
                  struct err *err);
void template_close(struct template *t); /* NULL is fine */

#endif
