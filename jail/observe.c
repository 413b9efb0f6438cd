/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe - see observe.h. A kind is a call and its errno. Numbers that no call
 * has are one kind, so that a cell cannot fill the table with them and have its
 * next call counted among "others".
 */
#include "jail/observe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "jail/tell.h"
#include "src/base/fd.h"
#include "src/base/sys.h"

#define KIND_ONCE 3 /* occasions of a kind that are told at once */
#define NR_END 512  /* no call has a number from here on */
#define X32 0x40000000

/* 2,000 refused calls a second, and a thousand when there were none for long;
   on a slow machine fewer, so that they take a twentieth of a processor. */
#define ALLOWANCE_MAX 1024u
#define ALLOWANCE_PER_MS 2u
#define REST_MS 10u /* enough for 20 more */
#define REST_MAX_MS 1000u
#define REST_FACTOR 20u

struct kind {
    int32_t nr;
    uint32_t arch;
    int32_t error;
    uint32_t last_nr; /* the number itself, where nr stands for many */
    uint64_t count, told;
};

struct observer {
    int proc_fd;
    const int *control;
    uint64_t allowance, allowed_us; /* and when it was last added to */
    uint64_t spent_us;              /* since then, on answers */
    unsigned once;                  /* told at once since the last settlement */
    size_t count;
    struct kind kinds[HOLDER_DENIED_KINDS];
};

/* A holder has one cell. Not on the heap: untouched it costs nothing. */
static struct observer the_observer;

struct observer *observer_begin(const struct jail *j, const int *control)
{
    struct observer *o = &the_observer;

    o->proc_fd = j->proc_fd;
    o->control = control;
    o->allowance = ALLOWANCE_MAX;
    o->allowed_us = clock_us();
    return o;
}

/* ---- kinds ---- */

static struct kind kind_of(const struct seccomp_data *d, int error)
{
    struct kind k = {.nr = d->nr, .arch = d->arch, .error = error};

    k.last_nr = (uint32_t)d->nr;
    if (d->arch != AUDIT_ARCH_X86_64)
        k.nr = 0;
    else if (d->nr < 0 || d->nr >= NR_END)
        k.nr = (d->nr & X32) != 0 ? X32 : NR_END;
    return k;
}

/* The one in the table; the last stands for all that it has no room for. */
static struct kind *find(struct observer *o, const struct kind *k)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->kinds[i].nr == k->nr && o->kinds[i].arch == k->arch &&
            o->kinds[i].error == k->error)
            return &o->kinds[i];
    if (o->count == HOLDER_DENIED_KINDS)
        return &o->kinds[HOLDER_DENIED_KINDS - 1];
    o->kinds[o->count] = *k;
    if (o->count == HOLDER_DENIED_KINDS - 1)
        o->kinds[o->count] = (struct kind){.nr = -1, .error = k->error};
    return &o->kinds[o->count++];
}

static struct holder_message message(const struct kind *k)
{
    return (struct holder_message){
        .type = HOLDER_DENIED,
        .value = HOLDER_DENIED_TOTAL,
        .denied = {.nr = k->nr < 0 ? -1 : (int32_t)k->last_nr,
                   .arch = k->arch,
                   .error = k->error,
                   .count = k->count},
    };
}

/* ---- telling ---- */

/* Whose call it is, for people. What is read while the call waits is of the
 * caller; afterwards the number could be another's. */
static void add_program(const struct observer *o, int listener,
                        const struct seccomp_notif *ask,
                        struct holder_message *m)
{
    uint64_t id = ask->id;
    char path[32];
    ssize_t n;

    snprintf(path, sizeof(path), "%u/exe", ask->pid);
    n = readlinkat(o->proc_fd, path, m->text, sizeof(m->text) - 1);
    m->text[n < 0 ? 0 : n] = '\0';
    snprintf(path, sizeof(path), "%u/comm", ask->pid);
    n = fd_read_text(o->proc_fd, path, m->denied.comm, sizeof(m->denied.comm));
    if (n > 0 && m->denied.comm[n - 1] == '\n')
        m->denied.comm[n - 1] = '\0';
    if (sys_ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0)
        return;
    memset(m->text, 0, sizeof(m->text));
    memset(m->denied.comm, 0, sizeof(m->denied.comm));
}

void observer_note(struct observer *o, int listener,
                   const struct seccomp_notif *ask, int error)
{
    const struct kind seen = kind_of(&ask->data, error);
    struct kind *k = find(o, &seen);
    struct holder_message m;

    if (o->allowance > 0)
        o->allowance--;
    k->last_nr = seen.last_nr;
    k->count++;
    if (k->count > KIND_ONCE || o->once >= HOLDER_DENIED_ONCE)
        return;
    m = message(k);
    m.value = 0;
    memcpy(m.denied.arg, ask->data.args, sizeof(m.denied.arg));
    add_program(o, listener, ask, &m);
    if (tell(*o->control, &m) < 0)
        return; /* its number is told later */
    o->once++;
    k->told = k->count;
}

int observer_settle(struct observer *o)
{
    size_t kept = 0;

    for (size_t i = 0; i < o->count; i++) {
        const struct holder_message m = message(&o->kinds[i]);

        if (o->kinds[i].count != o->kinds[i].told &&
            tell(*o->control, &m) < 0 && errno == EAGAIN)
            o->kinds[kept++] = o->kinds[i];
    }
    o->count = kept;
    o->once = 0;
    return kept == 0 ? 0 : -1;
}

/* ---- how much of it a cell gets ---- */

void observer_spent(struct observer *o, uint64_t us)
{
    o->spent_us += us;
}

int observer_rest_ms(struct observer *o)
{
    uint64_t now, ms, need;

    if (o->allowance > 0)
        return 0;
    now = clock_us();
    ms = (now - o->allowed_us) / 1000;
    need = o->spent_us * REST_FACTOR / 1000;
    need = need < REST_MS ? REST_MS : need;
    need = need > REST_MAX_MS ? REST_MAX_MS : need;
    if (ms < need)
        return (int)(need - ms);
    o->allowance = (ms - need + REST_MS) * ALLOWANCE_PER_MS;
    if (o->allowance > ALLOWANCE_MAX)
        o->allowance = ALLOWANCE_MAX;
    o->allowed_us = now;
    o->spent_us = 0;
    return 0;
}
