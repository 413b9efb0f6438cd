/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_result - results and errors as karzer.h shows them. A result is read
 * once, when it comes; the getters only hand out what was found.
 */
#include "src/client/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/auto.h"

struct karzer_error {
    enum karzer_error_code code;
    char text[480];
};

int client_fail(karzer_error **out, const struct err *err)
{
    static const enum karzer_error_code codes[] = {
        [ERR_NONE] = KARZER_ERROR_ENGINE,
        [ERR_INVALID] = KARZER_ERROR_INVALID,
        [ERR_DENIED] = KARZER_ERROR_DENIED,
        [ERR_LIMIT] = KARZER_ERROR_LIMIT,
        [ERR_HOST] = KARZER_ERROR_HOST,
        [ERR_INTERNAL] = KARZER_ERROR_INTERNAL,
    };

    if (out == NULL)
        return -1;
    *out = calloc(1, sizeof(**out));
    if (*out != NULL) {
        (*out)->code = codes[err->code];
        snprintf((*out)->text, sizeof((*out)->text), "%s", err->text);
    }
    return -1;
}

enum karzer_error_code karzer_error_code(const karzer_error *err)
{
    return err == NULL ? KARZER_ERROR_INTERNAL : err->code;
}

const char *karzer_error_text(const karzer_error *err)
{
    return err == NULL ? "out of memory" : err->text;
}

void karzer_error_free(karzer_error *err)
{
    free(err);
}

/* A displayed value in one type. */
struct shown {
    size_t value;
    char *mime;
    char *data;
    size_t len;
};

struct karzer_result {
    char *json; /* the whole answer's text */
    struct span body;
    char *status, *message;
    char *out, *err;
    size_t out_len, err_len;
    char *error_name, *error_value, *error_traceback;
    int exit_code, signal;
    size_t values;
    struct shown *shown;
    size_t shown_count;
};

/* A span's bytes, a NUL after them. NULL: no memory. */
static char *copy(struct span from)
{
    char *out = malloc(from.len + 1);

    if (out == NULL)
        return NULL;
    memcpy(out, from.at, from.len);
    out[from.len] = '\0';
    return out;
}

/* A text of the result; `otherwise` when it is not there. -1: no memory. */
static int take_text(struct span from, const char *name, const char *otherwise,
                     char **out)
{
    *out = span_text(span_member(from, name), NULL);
    if (*out != NULL || otherwise == NULL)
        return 0;
    *out = strdup(otherwise);
    return *out == NULL ? -1 : 0;
}

/* stdout or stderr: text, or base64 as its _encoding says. */
static int take_bytes(struct span body, const char *name, char **out,
                      size_t *len)
{
    char encoding[32];
    char *text = span_text(span_member(body, name), len);
    char *bytes;
    struct span how;

    snprintf(encoding, sizeof(encoding), "%s_encoding", name);
    how = span_member(body, encoding);
    if (text == NULL || how.len != 8 || memcmp(how.at, "\"base64\"", 8) != 0) {
        *out = text;
        return text == NULL ? -1 : 0;
    }
    bytes = span_base64(text, *len, len);
    free(text);
    *out = bytes;
    return bytes == NULL ? -1 : 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);

    return a >= b && strcmp(text + a - b, end) == 0;
}

static bool is_text(const char *mime)
{
    return strncmp(mime, "text/", 5) == 0 || ends_with(mime, "/json") ||
           ends_with(mime, "+json") || ends_with(mime, "+xml") ||
           ends_with(mime, "javascript");
}

/* A string decoded; anything else as its JSON. */
static char *shown_data(const char *mime, struct span value, size_t *len)
{
    char *text = span_text(value, len);
    char *bytes;

    if (text == NULL) {
        *len = value.len;
        return copy(value);
    }
    if (is_text(mime))
        return text;
    bytes = span_base64(text, *len, len);
    if (bytes == NULL)
        return text;
    free(text);
    return bytes;
}

static int add_shown(struct karzer_result *r, size_t value, struct span key,
                     struct span data)
{
    struct shown s = {.value = value, .mime = span_text(key, NULL)};
    struct shown *more;

    if (s.mime == NULL)
        return -1;
    s.data = shown_data(s.mime, data, &s.len);
    more = realloc(r->shown, (r->shown_count + 1) * sizeof(*more));
    if (more != NULL)
        r->shown = more;
    if (s.data == NULL || more == NULL) {
        free(s.mime);
        free(s.data);
        return -1;
    }
    r->shown[r->shown_count++] = s;
    return 0;
}

static int take_values(struct karzer_result *r)
{
    struct span all = span_member(r->body, "results");
    struct span bundle, key, data;
    size_t pos = 0;

    while (span_next(all, &pos, NULL, &bundle)) {
        size_t in = 0;

        while (span_next(bundle, &in, &key, &data))
            if (key.at == NULL || add_shown(r, r->values, key, data) < 0)
                return -1;
        r->values++;
    }
    return 0;
}

static int take_int(struct span body, const char *name, int otherwise)
{
    uint64_t n;

    return span_number(span_member(body, name), &n) && n <= 0x7fffffff
               ? (int)n
               : otherwise;
}

static int take_all(struct karzer_result *r)
{
    struct span error = span_member(r->body, "error");

    r->exit_code = take_int(r->body, "exit_code", -1);
    r->signal = take_int(r->body, "signal", 0);
    if (take_text(r->body, "status", NULL, &r->status) < 0 ||
        r->status == NULL ||
        take_text(r->body, "message", "", &r->message) < 0 ||
        take_bytes(r->body, "stdout", &r->out, &r->out_len) < 0 ||
        take_bytes(r->body, "stderr", &r->err, &r->err_len) < 0)
        return -1;
    if (error.at != NULL && *error.at == '{' &&
        (take_text(error, "name", "", &r->error_name) < 0 ||
         take_text(error, "value", "", &r->error_value) < 0 ||
         take_text(error, "traceback", "", &r->error_traceback) < 0))
        return -1;
    return take_values(r);
}

int client_result(struct buf *answer, karzer_result **out, struct err *err)
{
    struct karzer_result *r = calloc(1, sizeof(*r));
    struct span whole = span_of(buf_text(answer), answer->len);
    struct span body = span_member(whole, "result");

    if (r == NULL || body.at == NULL) {
        free(r);
        return err_set(err, ERR_INTERNAL, "the engine's answer has no result");
    }
    r->json = copy(body);
    if (r->json != NULL)
        r->body = span_of(r->json, body.len);
    if (r->json == NULL || take_all(r) < 0) {
        karzer_result_free(r);
        return err_set(err, ERR_INTERNAL,
                       "the engine's result cannot be read, or no memory");
    }
    *out = r;
    return 0;
}

const char *karzer_result_status(const karzer_result *r)
{
    return r->status;
}

const char *karzer_result_message(const karzer_result *r)
{
    return r->message;
}

int karzer_result_exit_code(const karzer_result *r)
{
    return r->exit_code;
}

int karzer_result_signal(const karzer_result *r)
{
    return r->signal;
}

const char *karzer_result_stdout(const karzer_result *r, size_t *len)
{
    if (len != NULL)
        *len = r->out_len;
    return r->out;
}

const char *karzer_result_stderr(const karzer_result *r, size_t *len)
{
    if (len != NULL)
        *len = r->err_len;
    return r->err;
}

const char *karzer_result_error_name(const karzer_result *r)
{
    return r->error_name;
}

const char *karzer_result_error_value(const karzer_result *r)
{
    return r->error_value;
}

const char *karzer_result_error_traceback(const karzer_result *r)
{
    return r->error_traceback;
}

size_t karzer_result_values(const karzer_result *r)
{
    return r->values;
}

size_t karzer_result_mimes(const karzer_result *r, size_t value)
{
    size_t n = 0;

    for (size_t i = 0; i < r->shown_count; i++)
        n += r->shown[i].value == value;
    return n;
}

const char *karzer_result_mime(const karzer_result *r, size_t value, size_t n)
{
    for (size_t i = 0; i < r->shown_count; i++)
        if (r->shown[i].value == value && n-- == 0)
            return r->shown[i].mime;
    return NULL;
}

const void *karzer_result_data(const karzer_result *r, size_t value,
                               const char *mime, size_t *len)
{
    for (size_t i = 0; i < r->shown_count; i++) {
        const struct shown *s = &r->shown[i];

        if (s->value != value || strcmp(s->mime, mime) != 0)
            continue;
        if (len != NULL)
            *len = s->len;
        return s->data;
    }
    return NULL;
}

int karzer_result_usage(const karzer_result *r, const char *name,
                        uint64_t *value)
{
    struct span usage = span_member(r->body, "usage");
    struct span timing = span_member(r->body, "timing");

    return span_number(span_member(usage, name), value) ||
                   span_number(span_member(timing, name), value)
               ? 0
               : -1;
}

const char *karzer_result_json(const karzer_result *r)
{
    return r->json;
}

void karzer_result_free(karzer_result *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->shown_count; i++) {
        free(r->shown[i].mime);
        free(r->shown[i].data);
    }
    free(r->shown);
    free(r->json);
    free(r->status);
    free(r->message);
    free(r->out);
    free(r->err);
    free(r->error_name);
    free(r->error_value);
    free(r->error_traceback);
    free(r);
}
