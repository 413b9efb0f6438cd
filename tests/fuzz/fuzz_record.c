/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of record files: any bytes as a file, walked line by line. Every
 * byte belongs to exactly one line; a line that reads as a record is
 * sealed. And any JSON as the fields of a record: it reads back.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/core/boundary.h"
#include "src/core/record.h"
#include "src/core/record_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int each(const struct record_line *line, void *ctx, struct err *err)
{
    size_t *bytes = ctx;
    struct record r;

    (void)err;
    *bytes += line->len + line->ended;
    if (line->number == 0 || memchr(line->text, '\n', line->len) != NULL)
        abort();
    if (record_parse(line->text, line->len, &r) == 0 &&
        (r.seq == 0 || record_changed(line->text, line->len)))
        abort();
    return 0;
}

static void walk(const uint8_t *data, size_t size)
{
    int fd = memfd_create("record", MFD_CLOEXEC);
    size_t bytes = 0;

    if (fd >= 0 && write(fd, data, size) == (ssize_t)size &&
        lseek(fd, 0, SEEK_SET) == 0 &&
        (record_walk_fd(fd, size, "f", each, &bytes, NULL) < 0 ||
         bytes != size))
        abort();
    if (fd >= 0)
        close(fd);
}

/* Composes a record of a JSON text's fields; it must read back. */
static void compose(const uint8_t *data, size_t size)
{
    json_t *fields = json_loadb((const char *)data, size, 0, NULL);
    struct record head = {.seq = 1, .prev = RECORD_GENESIS, .kind = "file.in"};
    struct record back;
    char hash[SHA256_HEX_SIZE];
    struct buf line;

    rfc3339_format(size, head.time);
    buf_init(&line, RECORD_LINE_MAX);
    if (record_compose(&head, "a b c", fields, &line, hash, NULL) == 0 &&
        (line.len > RECORD_LINE_MAX || line.data[line.len - 1] != '\n' ||
         record_parse(line.data, line.len - 1, &back) < 0 || back.seq != 1))
        abort();
    buf_fini(&line);
    json_decref(fields);
}

/* A line of a file of anchors: one that is taken has the shape of one. */
static void anchor(const char *text)
{
    struct anchors all = {0};

    if (anchors_add(&all, text, "/r", NULL) == 1 &&
        strlen(all.at[0].hash) != SHA256_HEX_SIZE - 1)
        abort();
    anchors_fini(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[160];
    uint64_t n;
    char hash[SHA256_HEX_SIZE];

    walk(data, size);
    compose(data, size);
    if (size < sizeof(text)) {
        memcpy(text, data, size);
        text[size] = '\0';
        record_anchor_parse(text, &n, hash);
        anchor(text);
        boundary_since(text, &n, NULL);
    }
    return 0;
}
