/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store - the directory of templates of one user: names, trees, and the work of
 * builds (docs/templates.md). Only karzer-template writes in it.
 *
 * Order of locks: a build's own work directory, then the store, then a tree.
 * The store's is held while names change and trees go; a run never takes it.
 */
#ifndef KARZER_TEMPLATE_STORE_H
#define KARZER_TEMPLATE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/sha256.h"
#include "src/core/template.h"

struct store {
    int fd;
    char path[TEMPLATE_PATH_MAX];
};

/* Makes what is missing. */
int store_open(const char *state, struct store *s, struct err *err);
void store_close(struct store *s);

/* Everybody else waits; closing *fd frees it. */
int store_lock(const struct store *s, int *fd, struct err *err);

/* The work directory of a build of `name`, locked: ERR_HOST when another build
 * of it runs. */
int store_work(const struct store *s, const char *name, int *fd,
               struct err *err);

/* After the build, with its lock held: the directory goes, if it is empty. */
void store_work_end(const struct store *s, const char *name);

/* work/NAME/tree becomes trees/DIGEST unless that is there, and NAME stands for
 * it. What NAME stood for stays until gc, or goes when nobody uses it. */
int store_commit(const struct store *s, const char *name, const char *digest,
                 struct err *err);

/* Each name, sorted; `each` gets the digest it holds. */
int store_names(const struct store *s,
                int (*each)(const struct store *s, const char *name,
                            const char *digest, void *ctx, struct err *err),
                void *ctx, struct err *err);

/* Does a run use the tree now? */
bool store_in_use(const struct store *s, const char *digest);

struct store_gone {
    uint64_t trees, works; /* removed */
    uint64_t kept;         /* no name any more, but in use */
};

/* The name, and its tree unless another name has it or a run uses it. */
int store_rm(const struct store *s, const char *name, struct store_gone *gone,
             struct err *err);

/* Trees without a name that nobody uses, and work that nobody does. */
int store_gc(const struct store *s, struct store_gone *gone, struct err *err);

#endif
