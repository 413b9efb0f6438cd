/* SPDX-License-Identifier: Apache-2.0 */
/* err - see err.h. No allocation, no printing. */
#include "src/base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
    va_list ap;

    if (err == NULL)
        return -1;
    err->code = code;
    err->sys = 0;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    return -1;
}

int err_sys(struct err *err, const char *fmt, ...)
{
    int saved = errno;
    va_list ap;
    size_t len;

    if (err == NULL)
        return -1;
    err->code = ERR_HOST;
    err->sys = saved;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    len = strlen(err->text);
    snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror(saved));
    errno = saved;
    return -1;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
    char old[sizeof(err->text)];
    va_list ap;
    size_t len;

    if (err == NULL)
        return -1;
    memcpy(old, err->text, sizeof(old));
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    len = strlen(err->text);
    snprintf(err->text + len, sizeof(err->text) - len, ": %.*s",
             (int)(sizeof(old) - 1), old);
    return -1;
}
