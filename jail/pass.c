/* SPDX-License-Identifier: Apache-2.0 */
/* pass - see pass.h. */
#include "jail/pass.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
    char bytes[CMSG_SPACE(PASS_MAX * sizeof(int))];
    struct cmsghdr align;
};

int pass_send_all(int sock, const void *data, size_t len, const int *fds,
                  size_t count)
{
    struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    union control control = {{0}};
    ssize_t n;

    if (count > PASS_MAX) {
        errno = EINVAL;
        return -1;
    }
    if (count > 0) {
        struct cmsghdr *c = &control.align;

        msg.msg_control = &control;
        msg.msg_controllen = (socklen_t)CMSG_SPACE(count * sizeof(int));
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = (socklen_t)CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(c), fds, count * sizeof(int));
    }
    do
        n = sendmsg(sock, &msg, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)len ? 0 : -1;
}

int pass_send(int sock, const void *data, size_t len, int fd)
{
    return pass_send_all(sock, data, len, &fd, fd >= 0);
}

ssize_t pass_recv_all(int sock, void *data, size_t len, int fds[PASS_MAX],
                      int flags)
{
    struct iovec iov = {.iov_base = data, .iov_len = len};
    union control control = {{0}};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control.bytes)};
    const struct cmsghdr *c;
    ssize_t n;

    for (size_t i = 0; i < PASS_MAX; i++)
        fds[i] = -1;
    do
        n = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    c = n < 0 ? NULL : CMSG_FIRSTHDR(&msg);
    if (c != NULL && c->cmsg_level == SOL_SOCKET &&
        c->cmsg_type == SCM_RIGHTS && c->cmsg_len >= CMSG_LEN(sizeof(int)) &&
        c->cmsg_len <= CMSG_LEN(PASS_MAX * sizeof(int)))
        memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
    return n;
}

ssize_t pass_recv(int sock, void *data, size_t len, int *fd, int flags)
{
    int fds[PASS_MAX];
    ssize_t n = pass_recv_all(sock, data, len, fds, flags);

    *fd = fds[0];
    for (size_t i = 1; i < PASS_MAX; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return n;
}
