/* SPDX-License-Identifier: Apache-2.0 */
/*
 * anchor - see anchor.h. The name of the record's directory in a line is
 * written with %XX for all but plain characters: it is no place for a second
 * line, and where it ends is known.
 */
#include "src/core/anchor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/rfc3339.h"
#include "src/base/sys.h"
#include "src/core/record.h"

#define SYSLOG "syslog"
#define SYSLOG_SOCKET "/dev/log"
#define SYSLOG_PRIORITY "<85>" /* authpriv.notice */
#define MARK "anchor "
#define NAME_MAX_LEN 1024u /* what syslog daemons keep of a line is finite */
#define LINE_MAX_LEN (NAME_MAX_LEN + 256u)
#define ANCHORS_MAX 1000000u

/* ---- sending ---- */

/* The socket that a target names; NULL: it is a file. */
static const char *socket_of(const char *target)
{
    if (strcmp(target, SYSLOG) == 0)
        return SYSLOG_SOCKET;
    if (strncmp(target, SYSLOG ":", sizeof(SYSLOG)) == 0)
        return target + sizeof(SYSLOG);
    return NULL;
}

bool anchor_target_valid(const char *target)
{
    const char *socket = socket_of(target);

    return (socket == NULL ? target : socket)[0] == '/';
}

static int name_of(const char *dir, char out[NAME_MAX_LEN], struct err *err)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
    size_t n = 0;

    for (; *dir != '\0'; dir++) {
        bool as_it_is = strchr(plain, *dir) != NULL;

        if (n + 4 > NAME_MAX_LEN)
            return err_set(err, ERR_HOST, "the record's path is too long");
        n += (size_t)snprintf(out + n, 4, as_it_is ? "%c" : "%%%02X",
                              (unsigned char)*dir);
    }
    out[n] = '\0';
    return 0;
}

static int send_to(const char *path, const char *line, struct err *err)
{
    AUTO(fd) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t len = strlen(line);

    if (fd < 0)
        return err_sys(err, "a socket for syslog");
    if (strlen(path) >= sizeof(to.sun_path))
        return err_set(err, ERR_HOST, "%.64s...: too long for a socket", path);
    memcpy(to.sun_path, path, strlen(path));
    if (sendto(fd, line, len, MSG_DONTWAIT | MSG_NOSIGNAL,
               (struct sockaddr *)&to, sizeof(to)) != (ssize_t)len)
        return err_sys(err, "%s", path);
    return 0;
}

/* Whoever can rewrite the record must not be able to rewrite this. */
static int check_file(int fd, const char *path, struct err *err)
{
    struct stat st;
    int flags = 0;

    if (fstat(fd, &st) < 0)
        return err_sys(err, "%.256s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_HOST, "%.256s: not a regular file", path);
    if (st.st_uid == geteuid() && (sys_ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0 ||
                                   (flags & FS_APPEND_FL) == 0))
        return err_set(err, ERR_HOST,
                       "%.256s: belongs to the record's owner: give it another "
                       "one, or the append-only attribute (chattr +a)",
                       path);
    return 0;
}

static int append_to(const char *path, const char *line, struct err *err)
{
    AUTO(fd)
    int fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC |
                            O_NOCTTY | O_NONBLOCK);
    size_t len = strlen(line);
    ssize_t n;

    if (fd < 0)
        return err_sys(err, "%.256s", path);
    if (check_file(fd, path, err) < 0)
        return -1;
    n = write(fd, line, len); /* one write: others append, too */
    if (n < 0)
        return err_sys(err, "%.256s", path);
    return n == (ssize_t)len
               ? 0
               : err_set(err, ERR_HOST, "%.256s: no space for all of it", path);
}

int anchor_send(const char *target, const char *dir, const struct anchor *a,
                struct err *err)
{
    const char *socket = socket_of(target);
    char name[NAME_MAX_LEN], line[LINE_MAX_LEN], time[RFC3339_SIZE];
    char start[RFC3339_SIZE + 1];

    if (name_of(dir, name, err) < 0)
        return -1;
    rfc3339_format(rfc3339_now(), time);
    snprintf(start, sizeof(start), "%s ", time); /* syslog has its own */
    snprintf(line, sizeof(line), "%skarzer[%d]: " MARK "%llu %s of %s%s",
             socket == NULL ? start : SYSLOG_PRIORITY, (int)getpid(),
             (unsigned long long)a->seq, a->hash, name,
             socket == NULL ? "\n" : "");
    return socket == NULL ? append_to(target, line, err)
                          : send_to(socket, line, err);
}

/* ---- reading ---- */

/* The last "anchor ..." of a line: what is before may be a torn one. */
static const char *last_mark(const char *line)
{
    const char *found = NULL;
    const char *at = line;

    while ((at = strstr(at, MARK)) != NULL) {
        at += strlen(MARK);
        found = at;
    }
    return found;
}

/* "N HASH", or with " of DIR" behind it. */
static bool parse(const char *line, const char *name, struct anchor *out)
{
    char text[SHA256_HEX_SIZE + 24];
    const char *mark = last_mark(line);
    const char *of = mark == NULL ? NULL : strstr(mark, " of ");
    size_t len;

    if (mark == NULL)
        return record_anchor_parse(line, &out->seq, out->hash) == 0;
    if (of == NULL || strcmp(of + strlen(" of "), name) != 0)
        return false;
    len = (size_t)(of - mark);
    if (len >= sizeof(text))
        return false;
    memcpy(text, mark, len);
    text[len] = '\0';
    return record_anchor_parse(text, &out->seq, out->hash) == 0;
}

static int add(struct anchors *all, const struct anchor *a, struct err *err)
{
    struct anchor *more = all->at;

    if (all->len >= ANCHORS_MAX)
        return err_set(err, ERR_LIMIT, "more than %u anchors", ANCHORS_MAX);
    if ((all->len & (all->len - 1)) == 0) /* 0 or a power of two: full */
        more = realloc(more, (all->len == 0 ? 1 : all->len * 2) * sizeof(*a));
    if (more == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    more[all->len++] = *a;
    all->at = more;
    return 0;
}

int anchors_add(struct anchors *all, const char *line, const char *dir,
                struct err *err)
{
    char name[NAME_MAX_LEN];
    struct anchor a;

    if (name_of(dir, name, err) < 0)
        return -1;
    if (!parse(line, name, &a))
        return 0;
    return add(all, &a, err) < 0 ? -1 : 1;
}

/* Lines that are longer than an anchor's are read to their end and left out. */
static int read_lines(FILE *f, struct anchors *all, const char *dir,
                      struct err *err)
{
    char line[2 * LINE_MAX_LEN];
    bool cut = false;

    while (fgets(line, sizeof(line), f) != NULL) {
        size_t len = strcspn(line, "\r\n");
        bool ended = strchr(line, '\n') != NULL || len < sizeof(line) - 1;

        line[len] = '\0';
        if (ended && !cut && anchors_add(all, line, dir, err) < 0)
            return -1;
        cut = !ended;
    }
    return ferror(f) ? err_sys(err, "read") : 0;
}

int anchors_read(struct anchors *all, const char *path, const char *dir,
                 struct err *err)
{
    FILE *f = fopen(path, "re");
    size_t before = all->len;
    int rc;

    if (f == NULL)
        return err_sys(err, "%.256s", path);
    rc = read_lines(f, all, dir, err);
    fclose(f);
    if (rc < 0)
        return err_wrap(err, "%.256s", path);
    if (all->len == before)
        return err_set(err, ERR_INVALID,
                       "%.256s: no anchor of this record (%.256s) is in it",
                       path, dir);
    return 0;
}

static int by_seq(const void *a, const void *b)
{
    const struct anchor *x = a;
    const struct anchor *y = b;

    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

void anchors_sort(struct anchors *all)
{
    if (all->len > 1)
        qsort(all->at, all->len, sizeof(*all->at), by_seq);
}

void anchors_fini(struct anchors *all)
{
    free(all->at);
    *all = (struct anchors){0};
}
