/* SPDX-License-Identifier: Apache-2.0 */
/* record_settings - see record_settings.h. */
#include "src/core/record_settings.h"

#include <stddef.h>
#include <string.h>

#include "src/core/anchor.h"
#include "src/core/limits.h"

/* A number as an option's would be written. Any field of struct limits holds
 * one; 0 when nothing is said. */
static int number(uint64_t *out, const struct limit_row *row, const char *text,
                  struct err *err)
{
    struct limits one = {0};
    struct err why = {0};

    if (text != NULL && limits_parse(&one, row, text, &why) < 0)
        return err_set(err, ERR_INVALID, "%s", why.text + strlen("--"));
    *out = limits_get(&one, row);
    return 0;
}

int record_settings_parse(struct record_settings *out, const char *anchor,
                          const char *every, const char *size, struct err *err)
{
    static const struct limit_row lines = {.option = "KARZER_ANCHOR_EVERY",
                                           .unit = LIMIT_COUNT,
                                           .min = 1,
                                           .max = 1000000};
    static const struct limit_row bytes = {.option = "KARZER_RECORD_SIZE",
                                           .unit = LIMIT_SIZE,
                                           .min = 64u << 10,
                                           .max = UINT64_C(1) << 40};

    *out = (struct record_settings){.anchor = anchor};
    if (anchor != NULL && !anchor_target_valid(anchor))
        return err_set(err, ERR_INVALID,
                       "KARZER_ANCHOR: \"%.64s\" is none of syslog, "
                       "syslog:/PATH and an absolute path of a file",
                       anchor);
    if (number(&out->anchor_every, &lines, every, err) < 0)
        return -1;
    return number(&out->rotate_at, &bytes, size, err);
}
