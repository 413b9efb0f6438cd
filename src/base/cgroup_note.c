/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_note - where the groups of a slot are, as text in its note: a line
 * "version parts path" per tree, with "=" for the path of the line before.
 *
 * Written by the holder before it makes groups, read by any later sweep: who
 * starts karzer next may be in another group of a v1 hierarchy, and would look
 * in the wrong place. The file is its reader's own; it is still checked, since
 * what it names is emptied.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/base/cgroup.h"
#include "src/base/cgroup_find.h"
#include "src/base/cgroup_group.h"
#include "src/base/slot.h"

static int notes_fd = -1;

void cgroup_note_in(int slot_fd)
{
    notes_fd = slot_fd;
}

int cgroup_note_write(const struct cgroup_host *host, unsigned slot,
                      struct err *err)
{
    char note[SLOT_NOTE_MAX];
    size_t len = 0;

    if (notes_fd < 0)
        return 0;
    if (slot_inherit(notes_fd, slot, cgroup_sweep_noted) < 0)
        return err_set(err, ERR_HOST,
                       "control groups of a dead run in slot %u cannot be "
                       "removed",
                       slot);
    if (host->count == 0)
        return 0;
    for (unsigned i = 0; i < host->count; i++) {
        const struct cgroup_tree *tree = &host->tree[i];
        int same = i > 0 && strcmp(tree->path, tree[-1].path) == 0;
        int n = snprintf(note + len, sizeof(note) - len, "%d %u %s\n",
                         tree->version, tree->parts, same ? "=" : tree->path);

        /* Then only a sweep from the same group finds them. */
        if (n < 0 || (size_t)n >= sizeof(note) - len)
            return 0;
        len += (size_t)n;
    }
    if (slot_note(notes_fd, slot, note) < 0)
        return err_sys(err, "note the control groups in the slot");
    return 0;
}

void cgroup_note_clear(unsigned slot)
{
    if (notes_fd >= 0)
        slot_note(notes_fd, slot, NULL);
}

/* One line, cut out. 0, or -1: it says nothing that we wrote. */
static int line_read(const char *line, const struct cgroup_tree *before,
                     struct cgroup_tree *tree)
{
    unsigned all = (1u << CGROUP_PART_COUNT) - 1;
    int at = 0;
    const char *path;

    if (sscanf(line, "%d %u %n", &tree->version, &tree->parts, &at) != 2 ||
        at == 0 || tree->parts == 0 || (tree->parts & ~all) != 0)
        return -1;
    path = line + at;
    if (strcmp(path, "=") == 0 && before != NULL)
        path = before->path;
    if (path[0] != '/' || strstr(path, "/..") != NULL ||
        strlen(path) >= sizeof(tree->path))
        return -1;
    memcpy(tree->path, path, strlen(path) + 1);
    return 0;
}

void cgroup_note_read(const char *note, struct cgroup_host *host)
{
    struct cgroup_tree lines[CGROUP_PART_COUNT];
    const char *end;

    memset(host, 0, sizeof(*host));
    for (int i = 0; i < CGROUP_PART_COUNT; i++) {
        host->of[i] = -1;
        host->tree[i].parent_fd = -1;
    }
    for (int i = 0; i < CGROUP_PART_COUNT; i++) {
        char line[SLOT_NOTE_MAX];

        end = strchr(note, '\n');
        if (end == NULL || (size_t)(end - note) >= sizeof(line))
            return;
        memcpy(line, note, (size_t)(end - note));
        line[end - note] = '\0';
        note = end + 1;
        if (line_read(line, i == 0 ? NULL : &lines[i - 1], &lines[i]) < 0)
            return;
        if (cgroup_tree_open(&lines[i]) == 0)
            host->tree[host->count++] = lines[i];
    }
}
