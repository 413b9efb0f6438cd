/* SPDX-License-Identifier: Apache-2.0 */
/* dbus - see dbus.h: the conversation. */
#include "scope/dbus.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"

#define ANSWER_US 20000000u /* an emulated machine is slow */
#define SERIAL 1u

struct talk {
    int fd;
    uint64_t until_us;
    size_t len;
    uint8_t in[DBUS_MESSAGE_MAX];
};

static int more(struct talk *t, struct err *err)
{
    uint64_t now = clock_us();
    ssize_t n;

    if (t->len == sizeof(t->in))
        return err_set(err, ERR_HOST, "the answer is too long");
    if (now >= t->until_us ||
        !fd_wait(t->fd, POLLIN, (int)((t->until_us - now) / 1000 + 1)))
        return err_set(err, ERR_HOST, "no answer");
    n = read(t->fd, t->in + t->len, sizeof(t->in) - t->len);
    if (n <= 0)
        return err_set(err, ERR_HOST, "the connection was closed");
    t->len += (size_t)n;
    return 0;
}

/* SASL: "I am this uid", which the socket tells as well. */
static int authenticate(struct talk *t, struct err *err)
{
    char text[64], hex[32];
    const char *digits = text;
    size_t n = 0;

    snprintf(text, sizeof(text), "%u", (unsigned)geteuid());
    for (; *digits != '\0'; digits++, n += 2)
        snprintf(hex + n, sizeof(hex) - n, "%02x", (unsigned)*digits);
    n = (size_t)snprintf(text, sizeof(text), "%cAUTH EXTERNAL %s\r\n", 0, hex);
    if (fd_write_all(t->fd, text, n) < 0)
        return err_sys(err, "write");
    while (memchr(t->in, '\n', t->len) == NULL)
        if (more(t, err) < 0)
            return -1;
    if (t->len < 3 || memcmp(t->in, "OK ", 3) != 0)
        return err_set(err, ERR_HOST, "it does not know us");
    t->len = 0; /* it says nothing before it is spoken to */
    return fd_write_all(t->fd, "BEGIN\r\n", 7) < 0 ? err_sys(err, "write") : 0;
}

/* Signals may come before the answer. */
static int answer(struct talk *t, struct err *err)
{
    struct dbus_head h;

    for (;;) {
        int r = dbus_parse(t->in, t->len, &h);

        if (r < 0)
            return err_set(err, ERR_HOST, "it does not speak D-Bus");
        if (r == 0) {
            if (more(t, err) < 0)
                return -1;
            continue;
        }
        if (h.reply == SERIAL)
            break;
        memmove(t->in, t->in + h.size, t->len - h.size);
        t->len -= h.size;
    }
    if (h.type == 2)
        return 0;
    return err_set(err, ERR_HOST, "%s: %s", h.error, h.text);
}

int dbus_start_scope(const char *socket_path, const char *name, pid_t pid,
                     struct err *err)
{
    static struct talk t;
    AUTO(fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    uint8_t call[1024];
    size_t n = dbus_scope_call(name, pid, call, sizeof(call));

    if (n == 0 || strlen(socket_path) >= sizeof(to.sun_path))
        return err_set(err, ERR_INVALID, "a name is too long");
    memcpy(to.sun_path, socket_path, strlen(socket_path) + 1);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
        return err_sys(err, "%s", socket_path);
    t.fd = fd;
    t.len = 0;
    t.until_us = clock_us() + ANSWER_US;
    if (authenticate(&t, err) < 0)
        return err_wrap(err, "talk to systemd");
    if (fd_write_all(fd, call, n) < 0)
        return err_sys(err, "talk to systemd");
    if (answer(&t, err) < 0)
        return err_wrap(err, "ask systemd for a scope");
    return 0;
}
