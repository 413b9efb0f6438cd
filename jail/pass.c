/* SPDX-License-Identifier: Apache-2.0 */
/* pass - see pass.h. */
#include "jail/pass.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

union control {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

int pass_send(int sock, const void *data, size_t len, int fd)
{
    struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    union control control = {{0}};
    ssize_t n;

    if (fd >= 0) {
        struct cmsghdr *c = &control.align;

        msg.msg_control = &control;
        msg.msg_controllen = sizeof(control.bytes);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    }
    do
        n = sendmsg(sock, &msg, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)len ? 0 : -1;
}

ssize_t pass_recv(int sock, void *data, size_t len, int *fd, int flags)
{
    struct iovec iov = {.iov_base = data, .iov_len = len};
    union control control = {{0}};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control.bytes)};
    const struct cmsghdr *c;
    ssize_t n;

    *fd = -1;
    do
        n = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    c = n < 0 ? NULL : CMSG_FIRSTHDR(&msg);
    if (c != NULL && c->cmsg_level == SOL_SOCKET &&
        c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(fd, CMSG_DATA(c), sizeof(*fd));
    return n;
}
