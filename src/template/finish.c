/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finish - the part of put.h about what every template has. A cell mounts over
 * /etc/passwd and /etc/group, and programs look up their user, so these are
 * plain files of ours, whatever the archive had by these names.
 */
#include "src/template/put.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"
#include "src/base/sys.h"

#define USERS_MAX (256u << 10) /* of passwd, of group */

/* clang-format off */
static const struct text {
    const char *name;
    const char *line;  /* behind what is there, unless `key` stands there */
    const char *key;   /* NULL: in place of what is there */
    const char *start; /* of a file that is new */
} texts[] = {
    {"hostname", "karzer\n", NULL, ""},
    {"hosts", "127.0.0.1\tlocalhost karzer\n"
              "::1\tlocalhost ip6-localhost ip6-loopback\n", NULL, ""},
    {"nsswitch.conf", "passwd: files\ngroup: files\nshadow: files\n"
                      "hosts: files dns\nnetworks: files\nprotocols: files\n"
                      "services: files\nethers: files\nrpc: files\n", NULL, ""},
    {"resolv.conf", "# no network\n", NULL, ""},
    {"passwd", "user:x:1000:1000:user:/home/user:/bin/sh\n", ":x:1000:",
     "root:x:0:0:root:/root:/usr/sbin/nologin\n"
     "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
    {"group", "user:x:1000:\n", ":x:1000:",
     "root:x:0:\ntty:x:5:\nnogroup:x:65534:\n"},
};
/* clang-format on */

/* What stands there, when it is a plain file of a sane size. */
static size_t read_old(int etc, const char *name, char *out)
{
    AUTO(fd) int fd = openat(etc, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    ssize_t n;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        st.st_size >= (off_t)USERS_MAX)
        return 0;
    n = fd_read_full(fd, out, USERS_MAX - 1);
    return n < 0 ? 0 : (size_t)n;
}

static int text_put(int etc, const struct text *t, struct err *err)
{
    static char old[USERS_MAX];
    AUTO(fd) int fd = -1;
    size_t n = t->key == NULL ? 0 : read_old(etc, t->name, old);
    bool known;

    old[n] = '\0';
    known = t->key != NULL && strstr(old, t->key) != NULL;
    if (unlinkat(etc, t->name, 0) < 0 && errno != ENOENT)
        return err_sys(err, "replace etc/%s", t->name);
    fd = openat(etc, t->name,
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return err_sys(err, "make etc/%s", t->name);
    if (n == 0)
        n = (size_t)snprintf(old, sizeof(old), "%s", t->start);
    else if (old[n - 1] != '\n' && n < USERS_MAX - 1)
        old[n++] = '\n';
    if (fd_write_all(fd, old, n) < 0 ||
        (!known && fd_write_all(fd, t->line, strlen(t->line)) < 0))
        return err_sys(err, "write etc/%s", t->name);
    return 0;
}

int put_finish(struct put *p, struct err *err)
{
    static const char *const dirs[] = {"usr", "etc"};
    const struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                                 .resolve =
                                     RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    AUTO(fd) int etc = -1;

    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (mkdirat(p->root, dirs[i], 0755) < 0 && errno != EEXIST)
            return err_sys(err, "make %s", dirs[i]);
    etc = sys_openat2(p->root, "etc", &how);
    if (etc < 0)
        return err_set(err, ERR_INVALID, "etc: is no directory");
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (text_put(etc, &texts[i], err) < 0)
            return -1;
    return 0;
}
