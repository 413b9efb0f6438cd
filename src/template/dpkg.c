/* SPDX-License-Identifier: Apache-2.0 */
/* dpkg - see dpkg.h. Called by manifest.c and by the fuzzer. */
#include "src/template/dpkg.h"

#include <stdbool.h>
#include <string.h>

struct stanza {
    struct dpkg_package p;
    bool installed;
};

/* Letters, digits and what Debian allows in names, versions, architectures. */
static bool is_sane(const char *text)
{
    if (text[0] == '\0')
        return false;
    for (; *text != '\0'; text++)
        if (!(*text >= 'a' && *text <= 'z') &&
            !(*text >= 'A' && *text <= 'Z') &&
            !(*text >= '0' && *text <= '9') && strchr("+-.:~_", *text) == NULL)
            return false;
    return true;
}

/* The value of "Field: value"; one that does not fit is none. */
static bool field(const char *line, size_t len, const char *name, char *out)
{
    size_t n = strlen(name);

    if (len < n || memcmp(line, name, n) != 0)
        return false;
    line += n;
    len -= n;
    while (len > 0 && *line == ' ') {
        line++;
        len--;
    }
    if (len >= DPKG_FIELD_SIZE || memchr(line, '\0', len) != NULL)
        len = 0;
    memcpy(out, line, len);
    out[len] = '\0';
    return true;
}

static void line_take(struct stanza *s, const char *line, size_t len)
{
    char status[DPKG_FIELD_SIZE];

    if (field(line, len, "Package:", s->p.name) ||
        field(line, len, "Version:", s->p.version) ||
        field(line, len, "Architecture:", s->p.architecture))
        return;
    if (field(line, len, "Status:", status))
        s->installed = strstr(status, " ok installed") != NULL;
}

int dpkg_status(const char *text, size_t len,
                int (*each)(const struct dpkg_package *p, void *ctx,
                            struct err *err),
                void *ctx, struct err *err)
{
    const char *end = text + len;
    struct stanza s = {0};
    unsigned count = 0;

    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((stop == NULL ? end : stop) - text);

        if (n > 0)
            line_take(&s, text, n);
        text += n + (stop != NULL);
        if (n > 0 && text < end)
            continue;
        if (s.installed && is_sane(s.p.name) && is_sane(s.p.version) &&
            is_sane(s.p.architecture)) {
            if (++count > DPKG_PACKAGES_MAX)
                return err_set(err, ERR_LIMIT, "more than %u packages",
                               DPKG_PACKAGES_MAX);
            if (each(&s.p, ctx, err) < 0)
                return -1;
        }
        s = (struct stanza){0};
    }
    return 0;
}
