/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spaces - the namespaces of a cell: most come with the clone of the child, the
 * costly network namespace is made by the holder meanwhile. Called by main.c
 * and, in the child, by enter.c.
 */
#ifndef KARZER_JAIL_SPACES_H
#define KARZER_JAIL_SPACES_H

#include "jail/jail.h"
#include "src/base/err.h"

/* Clones into the cgroup and the namespaces: 0 in the child, its pid in the
 * holder, -1: err and j->mechanism say what is refused. */
pid_t spaces_clone(struct jail *j, int *pidfd, struct err *err);

/* In the holder: a network namespace with lo up, which it goes on to live in
 * itself, sent to the child by `up`, and whether there are sockets to mask. */
int spaces_network(struct jail *j, int up, struct err *err);

/* In the child: takes that; the sockets are masked before. */
int spaces_join(struct jail *j, struct err *err);

/* In the child, when it is in its cgroup: hostname, cgroup view, clock. */
int spaces_settle(struct jail *j, struct err *err);

#endif
