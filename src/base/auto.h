/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auto - cleanup by scope.
 *
 * `AUTO(fd) int fd = open(...)` closes it when it leaves scope; fd_take()
 * moves it out on the success path. AUTO(mem) frees, AUTO(file) fcloses.
 */
#ifndef KARZER_BASE_AUTO_H
#define KARZER_BASE_AUTO_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define AUTO(kind) __attribute__((cleanup(kind##_auto)))
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static inline void fd_auto(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static inline int fd_take(int *fd)
{
    int taken = *fd;

    *fd = -1;
    return taken;
}

/* Closes and sets to -1; -1 is fine. */
static inline void fd_drop(int *fd)
{
    fd_auto(fd);
    *fd = -1;
}

/* For char *, void * and any other pointer that free() takes. */
static inline void mem_auto(void *at)
{
    void *p;

    __builtin_memcpy(&p, at, sizeof(p));
    free(p);
}

static inline void file_auto(FILE **f)
{
    if (*f != NULL)
        fclose(*f);
}

#endif
