/* SPDX-License-Identifier: Apache-2.0 */
/* strs - see strs.h. */
#include "src/base/strs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strs_fini(struct strs *s)
{
    for (size_t i = 0; i < s->len; i++)
        free(s->at[i]);
    free(s->at);
    *s = (struct strs){0};
}

/* Takes `text`, also on failure. */
static int strs_take(struct strs *s, char *text, struct err *err)
{
    size_t room = s->len + 2;
    char **at = s->at;

    if (text == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    if (s->len >= STRS_MAX) {
        free(text);
        return err_set(err, ERR_LIMIT, "more than %u strings", STRS_MAX);
    }
    if ((s->len & (s->len + 1)) == 0) /* grow at 0, 1, 3, 7, ... */
        at = realloc(s->at, room * 2 * sizeof(*at));
    if (at == NULL) {
        free(text);
        return err_set(err, ERR_HOST, "out of memory");
    }
    s->at = at;
    s->at[s->len++] = text;
    s->at[s->len] = NULL;
    return 0;
}

int strs_add(struct strs *s, const char *text, struct err *err)
{
    return strs_take(s, strdup(text), err);
}

int strs_addf(struct strs *s, struct err *err, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vasprintf(&text, fmt, ap);
    va_end(ap);
    return strs_take(s, n < 0 ? NULL : text, err);
}
