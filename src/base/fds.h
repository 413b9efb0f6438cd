/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fds - a message with descriptors over a SOCK_SEQPACKET socket. What arrives
 * is close-on-exec; what is too many or too long is closed and refused.
 */
#ifndef KARZER_BASE_FDS_H
#define KARZER_BASE_FDS_H

#include <stddef.h>

#define FDS_MAX 8u

/* 0, or -1 with errno. */
int fds_send(int sock, const void *data, size_t len, const int *fds,
             size_t count);

/* Exactly `len` bytes and `count` descriptors: 0. -1: anything else, and then
 * no descriptor is left open. */
int fds_recv(int sock, void *data, size_t len, int *fds, size_t count);

#endif
