/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path - opens paths of the host that the caller named, and follows a link only
 * where no cell can have made it.
 *
 * A cell that may write to a tree of the host can leave links there, so that a
 * later run that is told a path in it would show, read or write another place.
 * Links that only root can have made are followed: those in / itself and, for
 * an ordinary user, those in directories that are root's and not his to write.
 */
#ifndef KARZER_BASE_PATH_H
#define KARZER_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"

/* O_PATH. -1: it is not there, or a link in it is not followed: the text says
 * which, and what to name in its place. */
int path_open(const char *path, struct err *err);

/* O_PATH, when there is no link in it at all; else -1 with errno ELOOP. */
int path_open_plain(const char *path);

/* The absolute name, without links, of what is open: 0, or -1 with errno. */
int path_name(int fd, char *out, size_t size);

/* By name: is `path` the directory `dir`, or in it? Both absolute and plain. */
bool path_is_below(const char *path, const char *dir);

#endif
