/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view - see view.h. Called by policy.c; view_add by the command line. Never
 * shows what manages the cell: the record is covered, the programs and slots
 * cannot be written.
 */
#include "src/core/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/path.h"
#include "src/core/grant.h"
#include "src/core/own.h"

void view_fini(struct view *v)
{
    for (size_t i = 0; i < v->count; i++) {
        free(v->rows[i].source);
        free(v->rows[i].target);
    }
    free(v->cwd);
    free(v->hostname);
    *v = (struct view){0};
}

/* "/a/b": no empty part, no "." and "..", no slash at the end; not "/". */
static bool is_plain(const char *path)
{
    while (*path == '/') {
        size_t n = strcspn(++path, "/");

        if (n == 0 || n > NAME_MAX || (n <= 2 && strspn(path, ".") >= n))
            return false;
        path += n;
        if (*path == '\0')
            return true;
    }
    return false;
}

static bool is_below_any(const char *path, const char *const *dirs)
{
    for (; *dirs != NULL; dirs++)
        if (path_is_below(path, *dirs))
            return true;
    return false;
}

int view_add(struct view *v, const struct view_row *row, struct err *err)
{
    size_t size = row->kind == VIEW_FILE ? row->size : strlen(row->source) + 1;
    struct view_row *to = &v->rows[v->count];

    if (!is_plain(row->target) || strlen(row->target) >= PATH_MAX)
        return err_set(err, ERR_INVALID,
                       "--%s: \"%.200s\" is no plain absolute path to be seen "
                       "at",
                       row->option, row->target);
    if (v->count == VIEW_ROWS_MAX)
        return err_set(err, ERR_INVALID,
                       "--%s: more than %u of them and its "
                       "like",
                       row->option, VIEW_ROWS_MAX);
    if (size > VIEW_BYTES_MAX - v->bytes)
        return err_set(err, ERR_INVALID,
                       "--%s: more than %u KiB of data and paths", row->option,
                       VIEW_BYTES_MAX >> 10);
    *to = *row;
    to->source = malloc(size + 1);
    to->target = strdup(row->target);
    v->count++;
    if (to->source == NULL || to->target == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    memcpy(to->source, row->source, size);
    v->bytes += size;
    return 0;
}

/* ---- decide ---- */

static int mount_add(struct grant *grant, const struct view_row *row,
                     struct err *err)
{
    static const enum grant_kind kinds[] = {[VIEW_BIND] = GRANT_BIND,
                                            [VIEW_DIR] = GRANT_DIR,
                                            [VIEW_FILE] = GRANT_FILE,
                                            [VIEW_LINK] = GRANT_LINK};
    size_t size = row->kind == VIEW_FILE ? row->size : strlen(row->source) + 1;
    struct grant_mount *m = &grant->mounts[grant->mount_count];

    if (grant->mount_count == GRANT_MOUNTS_MAX)
        return err_set(err, ERR_LIMIT, "more than %u mounts", GRANT_MOUNTS_MAX);
    *m = (struct grant_mount){
        .kind = kinds[row->kind],
        .size = row->kind == VIEW_FILE ? row->size : 0,
        .mode = row->mode,
        .rw = row->rw,
        .keep = row->keep,
        .owned = row->kind == VIEW_BIND && !row->system,
    };
    m->source = malloc(size + 1);
    m->target = strdup(row->target);
    grant->mount_count++;
    if (m->source == NULL || m->target == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    memcpy(m->source, row->source, size);
    return 0;
}

/* It is still what the client meant, and no link. */
static int source_look(const struct view_row *row, struct err *err)
{
    AUTO(fd) int fd = open(row->source, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(err, "--%s: %.200s", row->option, row->source);
    if (S_ISLNK(st.st_mode) ||
        (row->same && (st.st_dev != row->dev || st.st_ino != row->ino)))
        return err_set(err, ERR_DENIED,
                       "--%s: %.200s is not what it was when it was named",
                       row->option, row->source);
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return err_set(err, ERR_DENIED,
                       "--%s: %.200s is no directory and no file: sockets and "
                       "devices of the host are not shown",
                       row->option, row->source);
    return 0;
}

/* A path of ours, as the kernel has it; false: it is not there. */
static bool real(const char *path, char out[PATH_MAX])
{
    return realpath(path, out) != NULL;
}

/* A cover would not do here: what is above it can be renamed. */
static int written_check(const struct dirs *dirs, const struct view_row *row,
                         struct err *err)
{
    char place[DIRS_PATH_MAX];

    if (!row->rw || !own_written(dirs, row->source, place))
        return 0;
    return err_set(err, ERR_DENIED,
                   "--%s: %.200s holds what runs or records this cell "
                   "(%.200s), and the code could change it: show it "
                   "read-only, or what is needed of it",
                   row->option, row->source, place);
}

/* The record is in there: an empty directory over it. */
static int record_cover(const struct dirs *dirs, const struct view_row *row,
                        struct grant *grant, struct err *err)
{
    char path[PATH_MAX], at[PATH_MAX * 2];
    char nothing[] = "";
    struct view_row cover = {.kind = VIEW_DIR,
                             .source = nothing,
                             .target = at,
                             .mode = 0500,
                             .option = row->option};

    if (!real(dirs->state, path))
        return 0;
    if (path_is_below(row->source, path))
        return err_set(err, ERR_DENIED,
                       "--%s: %.200s is of karzer's own record", row->option,
                       row->source);
    if (!path_is_below(path, row->source))
        return own_record(dirs, row->source)
                   ? err_set(err, ERR_DENIED,
                             "--%s: %.200s is another name of what holds "
                             "karzer's own record",
                             row->option, row->source)
                   : 0;
    snprintf(at, sizeof(at), "%s%s", row->target, path + strlen(row->source));
    return mount_add(grant, &cover, err);
}

static int bind_decide(const struct dirs *dirs, const struct view_row *row,
                       struct grant *grant, struct err *err)
{
    static const char *const never[] = {"/proc", "/sys", "/dev", NULL};

    if (strcmp(row->source, "/") == 0)
        return err_set(err, ERR_DENIED,
                       "--%s: not the whole host: --ro-bind / /, and --bind of "
                       "what is to be written",
                       row->option);
    if (is_below_any(row->source, never))
        return err_set(err, ERR_DENIED,
                       "--%s: %.200s: a cell has a /proc, a /dev and a part of "
                       "/sys of its own",
                       row->option, row->source);
    if (source_look(row, err) < 0 || written_check(dirs, row, err) < 0 ||
        mount_add(grant, row, err) < 0)
        return -1;
    return record_cover(dirs, row, grant, err);
}

int view_decide(const struct dirs *dirs, const struct view *v,
                struct grant *grant, struct err *err)
{
    static const char *const ours[] = {"/proc", "/sys", "/dev", "/karzer",
                                       NULL};

    for (size_t i = 0; i < v->count; i++) {
        const struct view_row *row = &v->rows[i];
        int r;

        if (is_below_any(row->target, ours))
            return err_set(err, ERR_DENIED,
                           "--%s: %.200s is the cell's own place", row->option,
                           row->target);
        r = row->kind == VIEW_BIND ? bind_decide(dirs, row, grant, err)
                                   : mount_add(grant, row, err);
        if (r < 0)
            return -1;
    }
    grant->bare = true;
    grant->bare_sys = v->sys;
    grant->seen_uid = v->uid;
    grant->seen_gid = v->gid;
    if (v->hostname != NULL && (grant->hostname = strdup(v->hostname)) == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    return 0;
}
