/* SPDX-License-Identifier: Apache-2.0 */
/* fds - see fds.h; unix(7), SCM_RIGHTS. */
#include "src/base/fds.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

union control {
    char bytes[CMSG_SPACE(sizeof(int) * FDS_MAX)];
    struct cmsghdr align;
};

int fds_send(int sock, const void *data, size_t len, const int *fds,
             size_t count)
{
    struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    union control control = {{0}};
    ssize_t n;

    if (count > FDS_MAX) {
        errno = E2BIG;
        return -1;
    }
    if (count > 0) {
        struct cmsghdr *c = &control.align;

        msg.msg_control = &control;
        msg.msg_controllen = (socklen_t)CMSG_SPACE(sizeof(int) * count);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = (socklen_t)CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * count);
    }
    do
        n = sendmsg(sock, &msg, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)len ? 0 : -1;
}

/* How many came, into `got`: they are in one control message. */
static size_t take(struct msghdr *msg, int *got)
{
    struct cmsghdr *c = CMSG_FIRSTHDR(msg);
    size_t bytes;

    if (c == NULL || c->cmsg_level != SOL_SOCKET ||
        c->cmsg_type != SCM_RIGHTS || c->cmsg_len < CMSG_LEN(0))
        return 0;
    bytes = c->cmsg_len - CMSG_LEN(0);
    memcpy(got, CMSG_DATA(c), bytes);
    return bytes / sizeof(int);
}

int fds_recv(int sock, void *data, size_t len, int *fds, size_t count)
{
    struct iovec iov = {.iov_base = data, .iov_len = len};
    union control control = {{0}};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control)};
    int got[FDS_MAX];
    size_t have;
    ssize_t n;

    do
        n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -1;
    have = take(&msg, got);
    if (n == (ssize_t)len && have == count &&
        (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0) {
        if (count > 0)
            memcpy(fds, got, sizeof(int) * count);
        return 0;
    }
    for (size_t i = 0; i < have; i++)
        close(got[i]);
    errno = EPROTO;
    return -1;
}
