/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass - one packet with at most one descriptor, over a SEQPACKET socket
 * between the holder and its child (unix(7), SCM_RIGHTS).
 */
#ifndef KARZER_JAIL_PASS_H
#define KARZER_JAIL_PASS_H

#include <stddef.h>
#include <sys/types.h>

#define PASS_MAX 2 /* descriptors in a packet */

/* fd -1: none; it stays the caller's. 0, or -1 with errno. */
int pass_send(int sock, const void *data, size_t len, int fd);

/* The packet's length, cut at len; 0 at the end; -1 with errno. *fd: -1, or
 * close-on-exec and the caller's. */
ssize_t pass_recv(int sock, void *data, size_t len, int *fd, int flags);

/* The same with up to PASS_MAX of them; those that did not come are -1. */
int pass_send_all(int sock, const void *data, size_t len, const int *fds,
                  size_t count);
ssize_t pass_recv_all(int sock, void *data, size_t len, int fds[PASS_MAX],
                      int flags);

#endif
