/* SPDX-License-Identifier: Apache-2.0 */
/* fd - see fd.h. */
#include "src/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/auto.h"

int fd_write_all(int fd, const void *data, size_t len)
{
    const char *at = data;

    while (len > 0) {
        ssize_t n = write(fd, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

ssize_t fd_read_full(int fd, void *data, size_t len)
{
    size_t got = 0;

    while (got < len) {
        ssize_t n = read(fd, (char *)data + got, len - got);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

ssize_t fd_read_text(int dirfd, const char *path, char *out, size_t size)
{
    AUTO(fd) int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return -1;
    n = fd_read_full(fd, out, size - 1);
    if (n < 0)
        return -1;
    out[n] = '\0';
    return n;
}

int fd_write_text(int dirfd, const char *path, const char *text)
{
    AUTO(fd) int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC);
    size_t len = strlen(text);
    ssize_t n;

    if (fd < 0)
        return -1;
    do
        n = write(fd, text, len);
    while (n < 0 && errno == EINTR);
    if (n >= 0 && (size_t)n != len)
        errno = EIO;
    return n == (ssize_t)len ? 0 : -1;
}

int fd_wait(int fd, short events, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = events};
    int n;

    do
        n = poll(&p, 1, timeout_ms);
    while (n < 0 && errno == EINTR);
    return n > 0;
}

int fd_set_nonblock(int fd, int on)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0)
        return -1;
    flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
    return fcntl(fd, F_SETFL, flags);
}

uint64_t clock_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
}
