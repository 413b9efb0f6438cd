/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show - see show.h. What is printed of a manifest was checked when it became
 * one: packages by dpkg.c; the value of a source is shown with its control
 * characters escaped, as JSON does.
 */
#include "src/template/show.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/template/manifest.h"

#define DUMP (JSON_COMPACT | JSON_ENSURE_ASCII)

static void print(json_t *o)
{
    AUTO(mem) char *text = json_dumps(o, DUMP);

    json_decref(o);
    printf("%s\n", text == NULL ? "{\"error\":{}}" : text);
}

static const char *text_of(const json_t *m, const char *key)
{
    const char *text = json_string_value(json_object_get(m, key));

    return text == NULL ? "" : text;
}

static unsigned long long number_of(const json_t *m, const char *key)
{
    return (unsigned long long)json_integer_value(json_object_get(m, key));
}

static json_t *manifest_of(const struct store *s, const char *digest,
                           struct err *err)
{
    char path[SHA256_HEX_SIZE + 8];
    AUTO(fd) int fd = -1;

    snprintf(path, sizeof(path), "trees/%s", digest);
    fd = openat(s->fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        err_sys(err, "%s/%s", s->path, path);
        return NULL;
    }
    return manifest_read(fd, err);
}

/* ---- list ---- */

struct lister {
    bool json;
    json_t *all;
};

static json_t *row_json(const char *name, const char *digest, const json_t *m,
                        bool in_use)
{
    return json_pack(
        "{s:s,s:s,s:s,s:O?,s:I,s:I,s:I,s:b}", "name", name, "sha256", digest,
        "created", text_of(m, "created"), "source",
        json_object_get(m, "source"), "files",
        (json_int_t)number_of(m, "files"), "bytes",
        (json_int_t)number_of(m, "bytes"), "packages",
        (json_int_t)json_array_size(json_object_get(m, "packages")), "in_use",
        in_use);
}

static int list_one(const struct store *s, const char *name, const char *digest,
                    void *ctx, struct err *err)
{
    struct lister *l = ctx;
    json_t *m = manifest_of(s, digest, NULL);
    bool in_use = store_in_use(s, digest);

    (void)err;
    if (l->json)
        json_array_append_new(l->all, row_json(name, digest, m, in_use));
    else if (m == NULL)
        printf("%-16s %.12s  damaged: build it anew\n", name, digest);
    else
        printf("%-16s %.12s  %.10s  %6llu MB  %4zu packages%s\n", name, digest,
               text_of(m, "created"), number_of(m, "bytes") >> 20,
               json_array_size(json_object_get(m, "packages")),
               in_use ? "  in use" : "");
    json_decref(m);
    return 0;
}

int show_list(const struct store *s, bool json, struct err *err)
{
    struct lister l = {.json = json, .all = json_array()};
    int r = store_names(s, list_one, &l, err);

    if (r == 0 && json)
        print(json_incref(l.all));
    json_decref(l.all);
    return r;
}

/* ---- show ---- */

static void show_text(const char *name, const json_t *m)
{
    const json_t *source = json_object_get(m, "source");
    const json_t *left = json_object_get(m, "left_out");
    AUTO(mem)
    char *value = json_dumps(json_object_get(source, "value"),
                             JSON_ENSURE_ASCII | JSON_ENCODE_ANY);
    size_t i;
    json_t *p;

    printf("template  %s\nsha256    %s\ncreated   %s\nsource    %s %s\n", name,
           text_of(m, "sha256"), text_of(m, "created"), text_of(source, "kind"),
           value == NULL ? "" : value);
    printf("holds     %llu files, %llu MB\n", number_of(m, "files"),
           number_of(m, "bytes") >> 20);
    printf("left out  %llu setuid and like bits, attributes of %llu files, "
           "%llu names that cells have of their own\n",
           number_of(left, "privileges"), number_of(left, "attributes"),
           number_of(left, "names"));
    json_array_foreach(json_object_get(m, "packages"), i, p)
    {
        printf("package   %s %s %s\n", text_of(p, "name"),
               text_of(p, "version"), text_of(p, "sha256"));
    }
}

int show_one(const struct store *s, const char *name, bool json,
             struct err *err)
{
    char digest[SHA256_HEX_SIZE];
    json_t *m;

    if (template_resolve(s->fd, name, digest, err) < 0)
        return -1;
    m = manifest_of(s, digest, err);
    if (m == NULL)
        return -1;
    if (json) {
        json_object_set_new(m, "name", json_string(name));
        json_object_set_new(m, "in_use", json_boolean(store_in_use(s, digest)));
        print(json_incref(m));
    } else {
        show_text(name, m);
    }
    json_decref(m);
    return 0;
}

/* ---- the others ---- */

void show_built(const char *name, const json_t *manifest, bool json)
{
    json_t *copy;

    if (!json) {
        printf("%s %s\n", name, text_of(manifest, "sha256"));
        return;
    }
    copy = json_copy((json_t *)(uintptr_t)manifest);
    json_object_set_new(copy, "name", json_string(name));
    print(copy);
}

void show_gone(const struct store_gone *gone, bool json)
{
    if (json) {
        print(json_pack("{s:I,s:I,s:I}", "trees", (json_int_t)gone->trees,
                        "works", (json_int_t)gone->works, "kept",
                        (json_int_t)gone->kept));
        return;
    }
    printf("removed %llu trees and %llu unfinished builds",
           (unsigned long long)gone->trees, (unsigned long long)gone->works);
    if (gone->kept > 0)
        printf("; %llu in use, gone with `karzer template gc` when free",
               (unsigned long long)gone->kept);
    printf("\n");
}

void show_error(const struct err *err)
{
    static const char *const codes[] = {
        [ERR_NONE] = "internal", [ERR_INVALID] = "invalid",
        [ERR_DENIED] = "denied", [ERR_LIMIT] = "limit",
        [ERR_HOST] = "host",     [ERR_INTERNAL] = "internal",
    };

    print(json_pack("{s:{s:s,s:s}}", "error", "code", codes[err->code], "text",
                    err->text));
    fflush(stdout);
}
