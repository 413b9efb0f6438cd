/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree - mounts by file descriptor: clone, set, attach, and mount points that
 * are looked up beneath the new root and nowhere else.
 *
 * Called while the view is built. A host path is only ever named as the source
 * of a clone; where things go is a descriptor.
 */
#ifndef KARZER_JAIL_TREE_H
#define KARZER_JAIL_TREE_H

#include <stdint.h>

#include "jail/jail.h"
#include "src/base/err.h"

/* A copy of a mount with all below it, attached nowhere; -1 with errno. */
int tree_clone(int dirfd, const char *path);
int tree_clone_plain(const char *path); /* ELOOP when a link is in it */
int tree_clone_one(int fd); /* O_PATH; without what is mounted below */

/* MOUNT_ATTR_*, for a whole tree; it gets and gives no mount events any more,
 * so that nothing attached to it shows on the host. 0, or -1 with errno. */
int tree_set(int tree, uint64_t attr);

/* Closes `tree`, also on failure. `path` is below our own tmpfs. */
int tree_attach(int tree, int dirfd, const char *path);
int tree_attach_fd(int tree, int point);

/*
 * A host path, with all below it, at `target`: one call where the others need
 * three. Only for a target below our own tmpfs, the working directory, where
 * no link can be. The caller sets attributes later, for many at once.
 */
int tree_bind(const char *source, const char *target);

/* The same without what is mounted below the source; once the root is turned,
 * a link in the target leads nowhere else. */
int tree_bind_one(const char *source, const char *target);

/*
 * The mount point `target` (absolute, plain) in the new root, O_PATH. What is
 * missing is made, as a directory or a file as `tree` is one, but only in our
 * own tmpfs: never in a tree of the host. Symbolic links are not followed.
 */
int tree_point(const struct jail *j, const char *target, int tree,
               struct err *err);

/* A symbolic link at `target`, its directories made in the same way. What is
 * there already must be the same link. */
int tree_link(const struct jail *j, const char *target, const char *text,
              struct err *err);

/* An existing file beneath the new root, O_PATH, links followed in there; -1
 * with errno. */
int tree_find(const struct jail *j, const char *path);

#endif
