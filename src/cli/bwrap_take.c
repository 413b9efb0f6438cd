/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bwrap_take - what each of bubblewrap's options does to the request. Called
 * through the table in bwrap.c; the values are the caller's, and checked as if
 * they were not.
 */
#include "src/cli/bwrap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/auto.h"

int bwrap_number(const struct bwrap_row *row, const char *text, int most,
                 int *out, struct err *err)
{
    char *end;
    long n;

    errno = 0;
    n = strtol(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ||
        n > most)
        return err_set(err, ERR_INVALID, "--%s: \"%.64s\" is no such number",
                       row->name, text);
    *out = (int)n;
    return 0;
}

bool bwrap_is_read_only(const struct bwrap_row *row)
{
    return strncmp(row->name, "ro-", 3) == 0;
}

int bwrap_plain(const struct bwrap_row *row, const char *text,
                char out[PATH_MAX], struct err *err)
{
    size_t len = 0;

    if (strlen(text) >= PATH_MAX - 1)
        return err_set(err, ERR_INVALID, "--%s: a path is too long", row->name);
    while (*text != '\0') {
        size_t n = strcspn(text, "/");

        if (n > 0 && !(n == 1 && text[0] == '.')) {
            out[len++] = '/';
            memcpy(out + len, text, n);
            len += n;
        }
        text += n + (text[n] == '/');
    }
    if (len == 0)
        out[len++] = '/';
    out[len] = '\0';
    return 0;
}

/* ---- what is made ---- */

static uint32_t mode_take(struct bwrap *b, uint32_t usual)
{
    b->perms_used = true;
    return b->perms < 0 ? usual : (uint32_t)b->perms;
}

static int add_dir(struct bwrap *b, const struct bwrap_row *row,
                   const char *word, bool keep, struct err *err)
{
    char target[PATH_MAX];
    uint32_t mode = mode_take(b, 0755);

    if (bwrap_plain(row, word, target, err) < 0)
        return -1;
    if ((strcmp(target, "/") == 0 && (keep || b->view->count == 0)) ||
        strcmp(target, "/dev/shm") == 0)
        return 0; /* there, and empty */
    return view_add(b->view,
                    &(struct view_row){.kind = VIEW_DIR,
                                       .source = bwrap_text(""),
                                       .target = target,
                                       .mode = mode,
                                       .rw = true,
                                       .keep = keep,
                                       .option = row->name},
                    err);
}

int take_tmpfs(struct bwrap *b, const struct bwrap_row *row, char **words_,
               struct err *err)
{
    return add_dir(b, row, words_[0], false, err);
}

int take_dir(struct bwrap *b, const struct bwrap_row *row, char **words_,
             struct err *err)
{
    return add_dir(b, row, words_[0], true, err);
}

int take_file(struct bwrap *b, const struct bwrap_row *row, char **words_,
              struct err *err)
{
    AUTO(buf) struct buf data;
    char target[PATH_MAX];
    uint32_t mode = mode_take(b, strcmp(row->name, "file") == 0 ? 0666 : 0600);
    int fd;

    buf_init(&data, VIEW_BYTES_MAX);
    if (bwrap_number(row, words_[0], INT32_MAX, &fd, err) < 0 ||
        bwrap_plain(row, words_[1], target, err) < 0)
        return -1;
    if (b->read_fd(fd, &data, err) < 0)
        return err_wrap(err, "--%s", row->name);
    return view_add(
        b->view,
        &(struct view_row){.kind = VIEW_FILE,
                           .source = data.len == 0 ? bwrap_text("") : data.data,
                           .size = data.len,
                           .target = target,
                           .mode = mode,
                           .rw = !bwrap_is_read_only(row),
                           .option = row->name},
        err);
}

int take_symlink(struct bwrap *b, const struct bwrap_row *row, char **words_,
                 struct err *err)
{
    char target[PATH_MAX];

    if (bwrap_plain(row, words_[1], target, err) < 0)
        return -1;
    if (words_[0][0] == '\0' || strlen(words_[0]) >= PATH_MAX)
        return err_set(err, ERR_INVALID, "--%s: says nothing, or too much",
                       row->name);
    return view_add(b->view,
                    &(struct view_row){.kind = VIEW_LINK,
                                       .source = words_[0],
                                       .target = target,
                                       .option = row->name},
                    err);
}

int take_perms(struct bwrap *b, const struct bwrap_row *row, char **words_,
               struct err *err)
{
    char *end;
    long n = strtol(words_[0], &end, 8);

    if (words_[0][0] < '0' || words_[0][0] > '7' || *end != '\0' || n > 07777)
        return err_set(err, ERR_INVALID, "--%s: \"%.64s\" is no octal mode",
                       row->name, words_[0]);
    if ((n & 07000) != 0)
        return err_set(err, ERR_INVALID,
                       "--%s: %.64s: no setuid, setgid or sticky bit",
                       row->name, words_[0]);
    b->perms = (int)n;
    return 0;
}

/* ---- its own places, names, ids ---- */

static int only_at(const struct bwrap_row *row, const char *word,
                   const char *place, struct err *err)
{
    char target[PATH_MAX];

    if (bwrap_plain(row, word, target, err) < 0)
        return -1;
    if (strcmp(target, place) == 0)
        return 0;
    return err_set(err, ERR_INVALID, "--%s: %.200s: a cell has it at %s alone",
                   row->name, word, place);
}

int take_proc(struct bwrap *b, const struct bwrap_row *row, char **words_,
              struct err *err)
{
    (void)b;
    return only_at(row, words_[0], "/proc", err);
}

int take_dev(struct bwrap *b, const struct bwrap_row *row, char **words_,
             struct err *err)
{
    (void)b;
    return only_at(row, words_[0], "/dev", err);
}

static int set_text(char **at, const char *text, struct err *err)
{
    free(*at);
    *at = strdup(text);
    return *at == NULL ? err_set(err, ERR_HOST, "out of memory") : 0;
}

int take_chdir(struct bwrap *b, const struct bwrap_row *row, char **words_,
               struct err *err)
{
    char path[PATH_MAX];

    if (bwrap_plain(row, words_[0], path, err) < 0)
        return -1;
    return set_text(&b->view->cwd, path, err);
}

int take_hostname(struct bwrap *b, const struct bwrap_row *row, char **words_,
                  struct err *err)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    size_t n = strlen(words_[0]);

    if (n == 0 || n > HOST_NAME_MAX || strspn(words_[0], word) != n)
        return err_set(err, ERR_INVALID, "--%s: \"%.64s\" is no name of a host",
                       row->name, words_[0]);
    return set_text(&b->view->hostname, words_[0], err);
}

int take_uid(struct bwrap *b, const struct bwrap_row *row, char **words_,
             struct err *err)
{
    int n;

    if (bwrap_number(row, words_[0], INT32_MAX, &n, err) < 0)
        return -1;
    b->view->uid = (uint32_t)n;
    b->uid_said = true;
    return 0;
}

int take_gid(struct bwrap *b, const struct bwrap_row *row, char **words_,
             struct err *err)
{
    int n;

    if (bwrap_number(row, words_[0], INT32_MAX, &n, err) < 0)
        return -1;
    b->view->gid = (uint32_t)n;
    b->gid_said = true;
    return 0;
}

/* ---- the environment ---- */

static int variable_check(const struct bwrap_row *row, const char *name,
                          struct err *err)
{
    if (name[0] != '\0' && strchr(name, '=') == NULL)
        return 0;
    return err_set(err, ERR_INVALID, "--%s: \"%.64s\" is no name of a variable",
                   row->name, name);
}

int take_setenv(struct bwrap *b, const struct bwrap_row *row, char **words_,
                struct err *err)
{
    if (variable_check(row, words_[0], err) < 0)
        return -1;
    return strs_addf(&b->env_steps, err, "=%s=%s", words_[0], words_[1]);
}

int take_unsetenv(struct bwrap *b, const struct bwrap_row *row, char **words_,
                  struct err *err)
{
    if (variable_check(row, words_[0], err) < 0)
        return -1;
    return strs_addf(&b->env_steps, err, "-%s", words_[0]);
}

int take_clearenv(struct bwrap *b, const struct bwrap_row *row, char **words_,
                  struct err *err)
{
    (void)row;
    (void)words_;
    return strs_add(&b->env_steps, "*", err);
}

int take_inherit_env(struct bwrap *b, const struct bwrap_row *row,
                     char **words_, struct err *err)
{
    (void)row;
    (void)words_;
    (void)err;
    b->inherit_env = true;
    return 0;
}

/* ---- descriptors, the end ---- */

static int fd_open(const struct bwrap_row *row, const char *word, int *fd,
                   struct err *err)
{
    if (bwrap_number(row, word, INT32_MAX, fd, err) < 0)
        return -1;
    if (fcntl(*fd, F_GETFD) < 0)
        return err_sys(err, "--%s: descriptor %d", row->name, *fd);
    return 0;
}

int take_block_fd(struct bwrap *b, const struct bwrap_row *row, char **words_,
                  struct err *err)
{
    return fd_open(row, words_[0], &b->block_fd, err);
}

/* It is open in this process, and stays so; in the cell it never was. */
int take_sync_fd(struct bwrap *b, const struct bwrap_row *row, char **words_,
                 struct err *err)
{
    int fd;

    (void)b;
    return fd_open(row, words_[0], &fd, err);
}

int take_die(struct bwrap *b, const struct bwrap_row *row, char **words_,
             struct err *err)
{
    (void)row;
    (void)words_;
    (void)err;
    b->die = true;
    return 0;
}

int take_cap_drop(struct bwrap *b, const struct bwrap_row *row, char **words_,
                  struct err *err)
{
    (void)b;
    if (words_[0][0] != '\0')
        return 0;
    return err_set(err, ERR_INVALID, "--%s: names none", row->name);
}
