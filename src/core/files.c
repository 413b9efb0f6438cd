/* SPDX-License-Identifier: Apache-2.0 */
/* files - see files.h: the records, and files that are bytes in memory. */
#include "src/core/files.h"

#include <string.h>
#include <sys/stat.h>

#include "src/base/sha256.h"
#include "src/core/output.h"

int files_refused(struct crossing *x, const char *host, const char *cell,
                  const char *reason, struct err *err)
{
    json_t *fields;

    if (x->refused > FILES_REFUSED_MAX)
        return 0;
    if (x->refused++ == FILES_REFUSED_MAX)
        reason = "and more: from here on they are not recorded one by one";
    fields = json_pack("{s:o,s:o,s:o}", "host",
                       host == NULL ? json_null() : text_json(host), "path",
                       text_json(cell), "reason", text_json(reason));

    return boundary_write(x->boundary, EVENT_FILE_REFUSED, x->run_id, fields,
                          x->events, err);
}

int files_crossed(struct crossing *x, enum event_kind kind, const char *host,
                  const char *cell, uint64_t size, const char *sha256,
                  struct err *err)
{
    json_t *fields =
        json_pack("{s:o,s:o,s:I,s:s}", "host",
                  host == NULL ? json_null() : text_json(host), "path",
                  text_json(cell), "size", (json_int_t)size, "sha256", sha256);

    if (fields == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    if (kind == EVENT_FILE_OUT && x->files != NULL &&
        json_array_append_new(x->files, json_copy(fields)) < 0) {
        json_decref(fields);
        return err_set(err, ERR_HOST, "out of memory");
    }
    return boundary_write(x->boundary, kind, x->run_id, fields, x->events, err);
}

int files_count(struct crossing *x, uint64_t bytes, struct err *err)
{
    if (x->count >= FILES_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "more than %u files", FILES_COUNT_MAX);
    if (bytes > x->max_bytes - x->bytes)
        return err_set(err, ERR_LIMIT,
                       "more than %llu bytes in all; --disk raises it",
                       (unsigned long long)x->max_bytes);
    x->count++;
    x->bytes += bytes;
    return 0;
}

int files_put(struct crossing *x, const char *cell, const void *data,
              size_t len, struct err *err)
{
    char hash[SHA256_HEX_SIZE];

    sha256_of(data, len, hash);
    if (fileop_put_begin(&x->op, cell, 0644, len, err) < 0 ||
        fileop_put_data(&x->op, data, len, err) < 0 ||
        files_crossed(x, EVENT_FILE_IN, NULL, cell, len, hash, err) < 0)
        return -1;
    return fileop_put_end(&x->op, err);
}

int files_get(struct crossing *x, const char *cell, struct buf *data,
              struct err *err)
{
    char hash[SHA256_HEX_SIZE];
    struct fileop_stat st;
    const char *at;
    ssize_t n;

    if (fileop_get_begin(&x->op, cell, &st, err) < 0)
        return -1;
    while ((n = fileop_get_data(&x->op, &at, err)) > 0)
        if (buf_add(data, at, (size_t)n, err) < 0)
            return -1;
    if (n < 0)
        return -1;
    sha256_of(buf_text(data), data->len, hash);
    return files_crossed(x, EVENT_FILE_OUT, NULL, cell, data->len, hash, err);
}
