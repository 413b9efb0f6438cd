/* SPDX-License-Identifier: Apache-2.0 */
/* bwrap - see bwrap.h. The table, the words, the environment. */
#include "src/cli/bwrap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/auto.h"
#include "src/base/fd.h"

#define ALWAYS_TEXT "so it is in any case"

const struct bwrap_row bwrap_rows[] = {
#define TAKEN(name, words, take, text) {name, words, take, text, false},
#define ALWAYS(name) {name, 0, NULL, ALWAYS_TEXT, false},
#define REFUSED(name, why) {name, 0, NULL, why, true},
#include "src/cli/bwrap.def"
#undef TAKEN
#undef ALWAYS
#undef REFUSED
};
const size_t bwrap_row_count = ARRAY_LEN(bwrap_rows);

static const struct bwrap_row *row_find(const char *word)
{
    if (strncmp(word, "--", 2) != 0)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(bwrap_rows); i++)
        if (strcmp(bwrap_rows[i].name, word + 2) == 0)
            return &bwrap_rows[i];
    return NULL;
}

/* --perms is for the option behind it, and for one that makes something. */
static int perms_check(struct bwrap *b, const struct bwrap_row *row,
                       struct err *err)
{
    if (b->perms < 0 || row->take == take_perms)
        return 0;
    if (!b->perms_used)
        return err_set(err, ERR_INVALID,
                       "--perms: is followed by --%s, which makes nothing",
                       row->name);
    b->perms = -1;
    return 0;
}

/* One option of the table at words[0]; how many words it was, or -1. */
static int row_apply(struct bwrap *b, const struct bwrap_row *row, char **words,
                     int count, struct err *err)
{
    if (row->refused)
        return err_set(err, ERR_INVALID, "--%s: %s", row->name, row->text);
    if (count <= row->words)
        return err_set(err, ERR_INVALID, "--%s: needs %d more word%s",
                       row->name, row->words, row->words == 1 ? "" : "s");
    b->perms_used = false;
    if ((row->take != NULL && row->take(b, row, words + 1, err) < 0) ||
        perms_check(b, row, err) < 0)
        return -1;
    return 1 + row->words;
}

/* karzer's own options: limits, --may-lack, --help. */
static int own_apply(struct bwrap *b, const struct option_hit *hit,
                     struct err *err)
{
    struct request *req = &b->args->req;

    if (hit->id == OPTION_LIMIT) {
        b->limits_said |= UINT64_C(1) << ((hit->limit - limit_rows) & 63);
        return limits_parse(&req->limits, hit->limit, hit->value, err);
    }
    if (hit->id == OPTION_MAY_LACK)
        return request_add_may_lack(req, hit->value, err);
    b->help = b->help || hit->id == OPTION_HELP;
    return 0;
}

int bwrap_parse(struct bwrap *b, struct option_scan *scan, struct err *err)
{
    b->perms = b->block_fd = -1;
    while (scan->at < scan->argc && !scan->dashes && !b->help) {
        char **words = scan->argv + scan->at;
        const struct bwrap_row *row = row_find(words[0]);
        struct option_hit hit;
        int n;

        if (strcmp(words[0], "--version") == 0) {
            b->version = true;
            return 0;
        }
        if (row == NULL) {
            n = option_next(scan, &hit, err);
            if (n <= 0)
                return n; /* the command, or an error */
            if (own_apply(b, &hit, err) < 0)
                return -1;
            continue;
        }
        n = row_apply(b, row, words, scan->argc - scan->at, err);
        if (n < 0)
            return -1;
        scan->at += n;
    }
    if (b->perms >= 0)
        return err_set(err, ERR_INVALID, "--perms: nothing follows it");
    return 0;
}

void bwrap_fini(struct bwrap *b)
{
    strs_fini(&b->env_steps);
}

/* ---- --args ---- */

int bwrap_read_fd(int fd, struct buf *out, struct err *err)
{
    char part[16384];
    ssize_t n;

    while ((n = fd_read_full(fd, part, sizeof(part))) > 0)
        if (buf_add(out, part, (size_t)n, err) < 0)
            return err_set(err, ERR_INVALID,
                           "descriptor %d: more than %zu bytes", fd, out->cap);
    if (n < 0)
        return err_sys(err, "descriptor %d", fd);
    if (fd > STDERR_FILENO)
        close(fd);
    return 0;
}

/* The words of NUL-terminated data, which stay in it. -1: too many, or the last
 * one has no end. */
static int words_split(struct buf *data, char **words, struct err *err)
{
    size_t at = 0;
    int count = 0;

    while (at < data->len) {
        const char *nul = memchr(data->data + at, '\0', data->len - at);

        if (nul == NULL)
            return err_set(err, ERR_INVALID,
                           "--args: the last word has no NUL behind it");
        if (count == (int)BWRAP_WORDS_MAX)
            return err_set(err, ERR_INVALID, "--args: more than %u words",
                           BWRAP_WORDS_MAX);
        words[count++] = data->data + at;
        at = (size_t)(nul - data->data) + 1;
    }
    return count;
}

static int words_apply(struct bwrap *b, char **words, int count,
                       struct err *err)
{
    for (int at = 0; at < count;) {
        const struct bwrap_row *row = row_find(words[at]);
        int n;

        if (row == NULL)
            return err_set(err, ERR_INVALID,
                           "--args: \"%.64s\" is no option of bubblewrap's",
                           words[at]);
        n = row_apply(b, row, words + at, count - at, err);
        if (n < 0)
            return err_wrap(err, "--args");
        at += n;
    }
    return 0;
}

int take_args(struct bwrap *b, const struct bwrap_row *row, char **words_,
              struct err *err)
{
    AUTO(buf) struct buf data;
    AUTO(mem) char **words = NULL;
    int fd, count;

    buf_init(&data, BWRAP_DATA_MAX);
    if (b->in_args)
        return err_set(err, ERR_INVALID, "--args: within --args");
    if (bwrap_number(row, words_[0], INT32_MAX, &fd, err) < 0)
        return -1;
    if (b->read_fd(fd, &data, err) < 0)
        return err_wrap(err, "--args");
    words = calloc(BWRAP_WORDS_MAX + 1, sizeof(*words));
    if (words == NULL)
        return err_set(err, ERR_HOST, "out of memory");
    count = words_split(&data, words, err);
    b->in_args = true;
    if (count < 0 || words_apply(b, words, count, err) < 0)
        return -1;
    b->in_args = false;
    return 0;
}

/* ---- the environment ---- */

/* What no secret is kept in. */
static bool is_usual(const char *variable)
{
    static const char *const names[] = {
        "PATH", "HOME",      "USER", "LOGNAME", "SHELL",
        "TERM", "COLORTERM", "TZ",   "LANG",    "LANGUAGE"};
    size_t n = strcspn(variable, "=");

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strlen(names[i]) == n && strncmp(variable, names[i], n) == 0)
            return true;
    return strncmp(variable, "LC_", 3) == 0;
}

static void drop(struct strs *env, const char *name, size_t n)
{
    size_t to = 0;

    for (size_t i = 0; i < env->len; i++) {
        bool same = strncmp(env->at[i], name, n) == 0 && env->at[i][n] == '=';

        if (same)
            free(env->at[i]);
        else
            env->at[to++] = env->at[i];
    }
    if (env->at != NULL)
        env->at[to] = NULL;
    env->len = to;
}

static int step(const char *text, struct strs *env, struct err *err)
{
    if (text[0] == '*') {
        strs_fini(env);
        *env = (struct strs){0};
        return 0;
    }
    drop(env, text + 1, strcspn(text + 1, "="));
    return text[0] == '=' ? strs_add(env, text + 1, err) : 0;
}

int bwrap_env(const struct bwrap *b, char *const *mine, struct strs *out,
              struct err *err)
{
    for (; *mine != NULL; mine++)
        if ((b->inherit_env || is_usual(*mine)) && **mine != '=' &&
            strchr(*mine, '=') != NULL && strs_add(out, *mine, err) < 0)
            return -1;
    for (size_t i = 0; i < b->env_steps.len; i++)
        if (step(b->env_steps.at[i], out, err) < 0)
            return -1;
    return 0;
}
