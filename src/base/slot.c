/* SPDX-License-Identifier: Apache-2.0 */
/* slot - see slot.h. */
#include "src/base/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"

#define NOTED 1 /* a slot's byte, else 0 */

/* A new open file each time: two takers of one process must exclude each other
 * too. O_NOFOLLOW: the directory is ours, but a link there is nobody's. */
static int slots_open(const char *dir, int flags)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%s/slots", dir);

    if (n < 0 || (size_t)n >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

/* F_WRLCK or F_UNLCK. 1 done, 0 held by another open file, -1 with errno. */
static int slot_lock(int fd, unsigned slot, short type)
{
    struct flock lock = {
        .l_type = type,
        .l_whence = SEEK_SET,
        .l_start = (off_t)slot,
        .l_len = 1,
    };

    if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
        return 1;
    return errno == EAGAIN || errno == EACCES ? 0 : -1;
}

int slot_take(const char *dir, unsigned *slot, int *fd, struct err *err)
{
    AUTO(fd) int file = slots_open(dir, O_CREAT);
    unsigned start = 0;

    if (file < 0)
        return err_sys(err, "take a slot: open %s/slots", dir);
    /* Only to spread takers; a failure costs time, not safety. */
    if (getrandom(&start, sizeof(start), GRND_NONBLOCK) < 0)
        start = (unsigned)getpid();
    for (unsigned i = 0; i < SLOT_COUNT; i++) {
        unsigned at = (start + i) % SLOT_COUNT;
        int r = slot_lock(file, at, F_WRLCK);

        if (r < 0)
            return err_sys(err, "take a slot: lock %s/slots", dir);
        if (r == 0)
            continue;
        *slot = at;
        *fd = fd_take(&file);
        return 0;
    }
    return err_set(err, ERR_HOST, "take a slot: all %u are in use in %s/slots",
                   SLOT_COUNT, dir);
}

int slot_try(const char *dir, unsigned slot, int *fd)
{
    AUTO(fd) int file = -1;
    int r;

    if (slot >= SLOT_COUNT) {
        errno = EINVAL;
        return -1;
    }
    file = slots_open(dir, O_CREAT);
    if (file < 0)
        return -1;
    r = slot_lock(file, slot, F_WRLCK);
    if (r == 1)
        *fd = fd_take(&file);
    return r;
}

static off_t note_at(unsigned slot)
{
    return (off_t)SLOT_COUNT + (off_t)slot * (off_t)SLOT_NOTE_MAX;
}

static int put(int fd, const void *data, size_t len, off_t at)
{
    ssize_t n = pwrite(fd, data, len, at);

    if (n >= 0 && (size_t)n != len)
        errno = ENOSPC;
    return n >= 0 && (size_t)n == len ? 0 : -1;
}

/* The text first: the byte says that it is whole. */
int slot_note(int fd, unsigned slot, const char *note)
{
    const char mark = note == NULL ? 0 : NOTED;
    size_t len = note == NULL ? 0 : strlen(note) + 1;

    if (len > SLOT_NOTE_MAX) {
        errno = E2BIG;
        return -1;
    }
    if (len > 0 && put(fd, note, len, note_at(slot)) < 0)
        return -1;
    return put(fd, &mark, 1, (off_t)slot);
}

int slot_inherit(int fd, unsigned slot, slot_clean *clean)
{
    char note[SLOT_NOTE_MAX], mark;
    ssize_t n = pread(fd, &mark, 1, (off_t)slot);

    if (n < 0)
        return -1;
    if (n == 0 || mark != NOTED)
        return 0;
    n = pread(fd, note, sizeof(note) - 1, note_at(slot));
    if (n < 0)
        return -1;
    note[n] = '\0';
    return clean(slot, note) == 0 ? slot_note(fd, slot, NULL) : -1;
}

int slot_notes(const char *dir, slot_clean *clean)
{
    AUTO(fd) int fd = slots_open(dir, 0);
    char marks[SLOT_COUNT];
    ssize_t n;
    int gone = 0;

    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    n = pread(fd, marks, sizeof(marks), 0);
    if (n < 0)
        return -1;
    for (unsigned i = 0; i < (size_t)n; i++) {
        const char *next = memchr(marks + i, NOTED, (size_t)n - i);

        if (next == NULL)
            break;
        i = (unsigned)(next - marks);
        if (slot_lock(fd, i, F_WRLCK) != 1)
            continue;
        /* Also when its owner took it back since we read the bytes. */
        gone += slot_inherit(fd, i, clean) == 0;
        slot_lock(fd, i, F_UNLCK);
    }
    return gone;
}

/* Does a line "first parent count" of uid_map hold the id? */
static int map_holds(const char *map, uint32_t id)
{
    const char *at = map;

    while (*at != '\0') {
        unsigned long long first, parent, count;

        if (sscanf(at, "%llu %llu %llu", &first, &parent, &count) == 3 &&
            id >= first && id - first < count)
            return 1;
        at = strchr(at, '\n');
        if (at == NULL)
            return 0;
        at++;
    }
    return 0;
}

/* The host's own user namespace has all, and this number (proc_ns.h). */
static int every_id_is_mapped(void)
{
    struct stat st;

    return stat("/proc/self/ns/user", &st) == 0 && st.st_ino == 0xEFFFFFFDu;
}

bool slot_root(void)
{
    unsigned long long first, parent, count;
    char text[4096];

    if (geteuid() != 0)
        return false;
    if (every_id_is_mapped() ||
        fd_read_text(AT_FDCWD, "/proc/self/uid_map", text, sizeof(text)) <= 0 ||
        map_holds(text, SLOT_UID_BASE))
        return true;
    for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (sscanf(at, "%llu %llu %llu", &first, &parent, &count) == 3 &&
            first == 0)
            return parent == 0; /* it may be the machine's root */
    }
    return true;
}

int slot_uid(unsigned slot, uint32_t *uid, struct err *err)
{
    static const char *const files[] = {"/proc/self/uid_map",
                                        "/proc/self/gid_map"};
    uint32_t id = SLOT_UID_BASE + slot;
    char map[4096];

    if (slot >= SLOT_COUNT)
        return err_set(err, ERR_INTERNAL, "no slot %u", slot);
    *uid = id;
    if (every_id_is_mapped())
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        if (fd_read_text(AT_FDCWD, files[i], map, sizeof(map)) < 0)
            return err_sys(err, "read %s", files[i]);
        if (!map_holds(map, id))
            return err_set(err, ERR_HOST,
                           "id %u for the cell is not mapped in this user "
                           "namespace (%s)",
                           id, files[i]);
    }
    *uid = id;
    return 0;
}
