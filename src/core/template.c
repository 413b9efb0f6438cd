/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template - see template.h. Called by policy.c and by karzer-template. It
 * never makes, changes or removes anything.
 */
#include "src/core/template.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"

#define TRIES 16 /* it may be built anew while we look */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool template_name_ok(const char *name)
{
    size_t n = strlen(name);

    if (n == 0 || n >= TEMPLATE_NAME_SIZE || !is_word(name[0]))
        return false;
    for (size_t i = 1; i < n; i++)
        if (!is_word(name[i]) && strchr("._-", name[i]) == NULL)
            return false;
    return true;
}

int template_name_check(const char *name, struct err *err)
{
    if (template_name_ok(name))
        return 0;
    return err_set(err, ERR_INVALID,
                   "\"%.64s\" is no name of a template: letters a to z, digits "
                   "and ._- after the first, at most %d",
                   name, TEMPLATE_NAME_SIZE - 1);
}

bool template_digest_ok(const char *text)
{
    return strlen(text) == SHA256_HEX_SIZE - 1 &&
           strspn(text, "0123456789abcdef") == SHA256_HEX_SIZE - 1;
}

static int no_template(const char *name, struct err *err)
{
    return err_set(err, ERR_HOST,
                   "there is no template \"%s\": `karzer template build %s "
                   "--packages python3,...` makes it, `karzer template list` "
                   "lists those there are",
                   name, name);
}

int template_resolve(int store, const char *name, char digest[SHA256_HEX_SIZE],
                     struct err *err)
{
    char path[TEMPLATE_NAME_SIZE + 8], text[SHA256_HEX_SIZE + 8];

    if (template_name_check(name, err) < 0)
        return -1;
    snprintf(path, sizeof(path), "names/%s", name);
    if (fd_read_text(store, path, text, sizeof(text)) < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return no_template(name, err);
        return err_sys(err, "template %s", name);
    }
    text[strcspn(text, "\n")] = '\0';
    if (!template_digest_ok(text))
        return err_set(err, ERR_HOST,
                       "template %s: its name holds no digest; build it anew",
                       name);
    memcpy(digest, text, SHA256_HEX_SIZE);
    return 0;
}

/* 1: locked, and still where its name led. 0: it went away meanwhile. */
static int tree_lock(int store, const char *digest, int *fd)
{
    char path[SHA256_HEX_SIZE + 8];
    struct stat here, there;

    snprintf(path, sizeof(path), "trees/%s", digest);
    *fd = openat(store, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*fd < 0)
        return 0;
    if (flock(*fd, LOCK_SH | LOCK_NB) == 0 && fstat(*fd, &here) == 0 &&
        fstatat(store, path, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
        here.st_ino == there.st_ino && here.st_dev == there.st_dev)
        return 1;
    fd_drop(fd);
    return 0;
}

static int find(const char *state, int store, struct template *t,
                struct err *err)
{
    for (int i = 0; i < TRIES; i++) {
        if (template_resolve(store, t->name, t->digest, err) < 0)
            return -1;
        if (tree_lock(store, t->digest, &t->fd)) {
            snprintf(t->root, sizeof(t->root), "%s/%s/trees/%s/root", state,
                     TEMPLATE_DIR, t->digest);
            return 0;
        }
        usleep(1000);
    }
    return err_set(err, ERR_HOST,
                   "template %s: its tree is gone; build it anew", t->name);
}

int template_open(const char *state, const char *name, struct template **out,
                  struct err *err)
{
    AUTO(fd) int store = -1;
    char path[TEMPLATE_PATH_MAX];
    struct template *t;

    if (template_name_check(name, err) < 0)
        return -1;
    snprintf(path, sizeof(path), "%s/%s", state, TEMPLATE_DIR);
    store = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (store < 0)
        return errno == ENOENT ? no_template(name, err)
                               : err_sys(err, "%s", path);
    t = calloc(1, sizeof(*t));
    if (t == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    t->fd = -1;
    snprintf(t->name, sizeof(t->name), "%s", name);
    if (find(state, store, t, err) < 0) {
        template_close(t);
        return -1;
    }
    *out = t;
    return 0;
}

void template_close(struct template *t)
{
    if (t == NULL)
        return;
    fd_drop(&t->fd);
    free(t);
}
