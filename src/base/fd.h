/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd - reading and writing whole things through file descriptors.
 *
 * All retry EINTR. Nothing here prints.
 */
#ifndef KARZER_BASE_FD_H
#define KARZER_BASE_FD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"

/* Everything or -1 with errno (a blocking fd). */
int fd_write_all(int fd, const void *data, size_t len);

/* Up to len bytes until EOF; -1 with errno. */
ssize_t fd_read_full(int fd, void *data, size_t len);

/*
 * A small text file (below a directory fd, or AT_FDCWD) into `out`,
 * NUL-terminated, cut at size - 1. Length or -1 with errno.
 */
ssize_t fd_read_text(int dirfd, const char *path, char *out, size_t size);

/* Writes a text to an existing file in one write(). 0, or -1 with errno. */
int fd_write_text(int dirfd, const char *path, const char *text);

/* 1 when one of `events` (or an error) is there within timeout_ms, else 0. */
int fd_wait(int fd, short events, int timeout_ms);

int fd_set_nonblock(int fd, int on); /* 0, or -1 with errno */

uint64_t clock_us(void); /* CLOCK_MONOTONIC in microseconds */

#endif
