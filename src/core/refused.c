/* SPDX-License-Identifier: Apache-2.0 */
/* refused - see refused.h. Words come from jail/seccomp.def and refused.def. */
#include "src/core/refused.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "src/base/auto.h"
#include "src/core/output.h"

#define X32 0x40000000u
#define SOCKET_FLAGS (SOCK_CLOEXEC | SOCK_NONBLOCK)
#define VALUE_MAX 160

/* By number: its name, and why it is refused. */
static const struct call {
    const char *name, *reason;
} calls[] = {
#define NAME(nr, name, reason) [nr] = {name, reason},
#include "src/core/call_names.h"
#undef NAME
};

enum shape {
    NUMBER, /* as an int */
    HEX,
    OCTAL,
    /* with names */
    FAMILY,
    SOCKET,
    PTRACE,
    PRCTL,
    IOCTL,
    FCNTL,
    /* with names for bits */
    CLONES,
    MOUNTS,
};

static const struct arg {
    int nr;
    unsigned index;
    const char *field;
    enum shape shape;
} args[] = {
#define ARG(call, index, field, shape) {SYS_##call, index, field, shape},
#include "src/core/refused.def"
};

static const struct named {
    enum shape shape;
    uint64_t value;
    const char *name;
} names[] = {
#define NAMED(shape, value, name) {shape, value, name},
#include "src/core/refused.def"
};

static const struct {
    int value;
    const char *name;
} errnos[] = {
#define ERRNO(name) {name, #name},
#include "src/core/refused.def"
};

/* ---- arguments ---- */

static void show_bits(enum shape shape, uint64_t v, char out[VALUE_MAX])
{
    size_t at = 0;

    out[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].shape == shape && (v & names[i].value) != 0) {
            at += (size_t)snprintf(out + at, VALUE_MAX - at, "%s%s",
                                   at == 0 ? "" : "|", names[i].name);
            v &= ~names[i].value;
        }
    if (v != 0 || at == 0)
        snprintf(out + at, VALUE_MAX - at, "%s%#llx", at == 0 ? "" : "|",
                 (unsigned long long)v);
}

/* Commands and kinds are ints to the kernel. */
static void show_named(enum shape shape, uint32_t v, char out[VALUE_MAX])
{
    if (shape == SOCKET)
        v &= ~(uint32_t)SOCKET_FLAGS;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].shape == shape && names[i].value == v) {
            snprintf(out, VALUE_MAX, "%s", names[i].name);
            return;
        }
    snprintf(out, VALUE_MAX, shape == IOCTL ? "%#x" : "%u", v);
}

static void show(enum shape shape, uint64_t v, char out[VALUE_MAX])
{
    if (shape == NUMBER)
        snprintf(out, VALUE_MAX, "%d", (int)(uint32_t)v);
    else if (shape == HEX)
        snprintf(out, VALUE_MAX, "%#llx", (unsigned long long)v);
    else if (shape == OCTAL)
        snprintf(out, VALUE_MAX, "%#o", (unsigned)v);
    else if (shape < CLONES)
        show_named(shape, (uint32_t)v, out);
    else
        show_bits(shape, v, out);
}

static void add(json_t *o, char *list, size_t size, const char *field,
                const char *value)
{
    size_t at = strlen(list);

    json_object_set_new(o, field, json_string(value));
    snprintf(list + at, size - at, "%s%s=%s", at == 0 ? "" : ", ", field,
             value);
}

/* As an object, and as text. What is no x86_64 call is shown as it came. */
static json_t *args_json(const struct holder_denied *d, bool known, char *list,
                         size_t size)
{
    json_t *o = json_object();
    char value[VALUE_MAX], field[8];

    list[0] = '\0';
    if (o == NULL)
        return NULL;
    for (size_t i = 0; known && i < ARRAY_LEN(args); i++)
        if (args[i].nr == d->nr) {
            show(args[i].shape, d->arg[args[i].index], value);
            add(o, list, size, args[i].field, value);
        }
    if (known)
        return o;
    show(NUMBER, (uint32_t)d->nr & ~X32, value);
    add(o, list, size, "number", value);
    for (unsigned i = 0; i < ARRAY_LEN(d->arg); i++) {
        snprintf(field, sizeof(field), "arg%u", i);
        show(HEX, d->arg[i], value);
        add(o, list, size, field, value);
    }
    return o;
}

/* ---- the event ---- */

static struct call call_of(const struct holder_denied *d)
{
    static const char newer[] = "No call that was known when karzer was made.";
    uint32_t nr = (uint32_t)d->nr;

    if (d->nr == -1 && d->arch == 0)
        return (struct call){"other", "More kinds than are told apart."};
    if (d->arch != AUDIT_ARCH_X86_64)
        return (struct call){"i386", "Calls of 32-bit programs are absent."};
    if (nr < ARRAY_LEN(calls) && calls[nr].name != NULL)
        return calls[nr];
    if ((nr & X32) != 0)
        return (struct call){"x32", "Calls of x32 programs are absent."};
    return (struct call){"unknown", newer};
}

static void error_name(int error, char *out, size_t size)
{
    snprintf(out, size, "errno %d", error);
    for (size_t i = 0; i < ARRAY_LEN(errnos); i++)
        if (errnos[i].value == error)
            snprintf(out, size, "%s", errnos[i].name);
}

static json_t *text_or_null(const char *text)
{
    return text[0] == '\0' ? json_null() : text_json(text);
}

/* The path's last part, or the thread's name. */
static const char *program_name(const struct holder_message *m)
{
    const char *slash = strrchr(m->text, '/');

    if (slash != NULL && slash[1] != '\0')
        return slash + 1;
    return m->denied.comm[0] != '\0' ? m->denied.comm : "a program";
}

/* One occasion: who, with what, and why. */
static void add_occasion(json_t *o, const struct holder_message *m,
                         const struct call *call, const char *error)
{
    const struct holder_denied *d = &m->denied;
    bool known = d->arch == AUDIT_ARCH_X86_64 &&
                 (size_t)(uint32_t)d->nr < ARRAY_LEN(calls) &&
                 calls[d->nr].name != NULL;
    char list[512], text[1024];

    json_object_set_new(o, "args", args_json(d, known, list, sizeof(list)));
    json_object_set_new(o, "program", text_or_null(m->text));
    json_object_set_new(o, "thread", text_or_null(d->comm));
    snprintf(text, sizeof(text), "%s called %s(%s), which answered %s. %s",
             program_name(m), call->name, list, error, call->reason);
    json_object_set_new(o, "text", text_json(text));
}

json_t *refused_json(const struct holder_message *m)
{
    const struct call call = call_of(&m->denied);
    json_t *o = json_object();
    char error[32], text[256];

    if (o == NULL)
        return NULL;
    error_name(m->denied.error, error, sizeof(error));
    json_object_set_new(o, "call", json_string(call.name));
    json_object_set_new(o, "errno", json_string(error));
    json_object_set_new(o, "count", json_integer((json_int_t)m->denied.count));
    if ((m->value & HOLDER_DENIED_TOTAL) == 0) {
        add_occasion(o, m, &call, error);
        return o;
    }
    snprintf(text, sizeof(text), "%s answered %s %llu times.", call.name, error,
             (unsigned long long)m->denied.count);
    json_object_set_new(o, "text", json_string(text));
    return o;
}
