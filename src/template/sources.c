/* SPDX-License-Identifier: Apache-2.0 */
/* sources - see sources.h. Asks apt itself, which knows its configuration. */
#include "src/template/sources.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "src/base/auto.h"
#include "src/base/buf.h"
#include "src/base/fd.h"
#include "src/template/program.h"

#define TEXT_MAX (1u << 20)
#define FILES_MAX 64u

/* "debian" of a line ID=debian or ID="debian". */
static void os_id(char *out, size_t size)
{
    char text[4096], *at;
    ssize_t n = fd_read_text(AT_FDCWD, "/etc/os-release", text, sizeof(text));

    snprintf(out, size, "debian");
    at = n <= 0                         ? NULL
         : strncmp(text, "ID=", 3) == 0 ? text
                                        : strstr(text, "\nID=");
    if (at == NULL)
        return;
    at += strcspn(at, "=") + 1;
    at += *at == '"';
    snprintf(out, size, "%.*s", (int)strcspn(at, "\"\n"), at);
}

static bool has(const struct strs *files, const char *file)
{
    for (size_t i = 0; i < files->len; i++)
        if (strcmp(files->at[i], file) == 0)
            return true;
    return false;
}

static int add_once(struct strs *files, const char *file, size_t len,
                    struct err *err)
{
    char path[4096];

    snprintf(path, sizeof(path), "%.*s", (int)len, file);
    if (path[0] != '/' || has(files, path))
        return 0;
    if (files->len >= FILES_MAX)
        return err_set(err, ERR_LIMIT, "more than %u files of apt sources",
                       FILES_MAX);
    return strs_add(files, path, err);
}

int sources_take(const char *text, const char *id, struct strs *files,
                 struct err *err)
{
    size_t n = strlen(id);

    while (*text != '\0') {
        size_t len = strcspn(text, "\n");
        const char *bar = memchr(text, '|', len);

        if (bar != NULL && (n == 0 || ((size_t)(bar - text) == n &&
                                       strncasecmp(text, id, n) == 0))) {
            size_t file = len - (size_t)(bar + 1 - text);
            const char *colon = memrchr(bar + 1, ':', file);

            if (colon != NULL)
                file = (size_t)(colon - bar - 1);
            if (add_once(files, bar + 1, file, err) < 0)
                return -1;
        }
        text += len + (text[len] == '\n');
    }
    return 0;
}

int sources_find(struct strs *files, struct err *err)
{
    char *const argv[] = {(char[]){"/usr/bin/apt-get"},
                          (char[]){"indextargets"},
                          (char[]){"--format"},
                          (char[]){"$(ORIGIN)|$(SOURCESENTRY)"},
                          (char[]){"Created-By: Packages"},
                          NULL};
    AUTO(buf) struct buf text;
    char id[64];

    buf_init(&text, TEXT_MAX);
    if (program_read(argv, &text, err) < 0)
        return err_wrap(err, "ask apt for its sources");
    os_id(id, sizeof(id));
    if (sources_take(buf_text(&text), id, files, err) < 0)
        return -1;
    if (files->len == 0 && sources_take(buf_text(&text), "", files, err) < 0)
        return -1;
    if (files->len == 0)
        return err_set(err, ERR_HOST, "apt has no sources on this host");
    return 0;
}
