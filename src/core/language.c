/* SPDX-License-Identifier: Apache-2.0 */
/* language - see language.h. Nothing here looks at the host. */
#include "src/core/language.h"

#include <ctype.h>
#include <string.h>

#include "src/base/auto.h"
#include "src/base/buf.h"

/*
 * The line that starts the Python driver: from its bytecode when that is this
 * interpreter's, else from its source. No import by name, so nothing is
 * searched for; nothing is bound in __main__ or entered in sys.modules; and
 * with builtins of its own. See runtime/python/README.md.
 */
#define PYTHON_START                                                           \
    "exec(__import__('_frozen_importlib_external').SourceFileLoader("          \
    "'karzer',__import__('sys').argv[1]+'/driver.py').get_code('karzer'),"     \
    "{'__name__':'karzer','__builtins__':__builtins__.__dict__.copy()})"

/*
 * The line of the bash driver: all of it is line 1 and at the top level, so
 * that the lines of a block are numbered as they are, and nothing is local.
 * Loops in loops, so that a stray `break` ends none but the inner ones. See
 * runtime/bash/README.md.
 */
#define BASH_START                                                             \
    ". \"$0/driver.sh\"; while karzer_on; do while karzer_on; do "             \
    "while { karzer_turn while; } 2>&-; do eval \"$karzer\"; done; "           \
    "until { karzer_turn until; } 2>&-; do eval \"$karzer\"; done; done; done"

#define LANGUAGE(id, name, program, package, suffixes, shebangs, tree, nul,    \
                 ...)                                                          \
    static const char *const args_##id[] = {__VA_ARGS__, NULL};
#include "src/core/languages.def"
#undef LANGUAGE

const struct language languages[] = {
#define LANGUAGE(id, name, program, package, suffixes, shebangs, tree, nul,    \
                 ...)                                                          \
    {name, program, package, suffixes, shebangs, tree, nul, args_##id},
#include "src/core/languages.def"
#undef LANGUAGE
};
const size_t language_count = ARRAY_LEN(languages);

#define SHEBANG_MAX 256u

const struct language *language_find(const char *name)
{
    for (size_t i = 0; i < language_count; i++)
        if (strcmp(languages[i].name, name) == 0)
            return &languages[i];
    return NULL;
}

int language_unknown(const char *option, const char *name, struct err *err)
{
    char known[128] = "";
    size_t n = 0;

    for (size_t i = 0; i < language_count && n < sizeof(known); i++)
        n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s",
                              i == 0 ? "" : ", ", languages[i].name);
    return err_set(err, ERR_INVALID, "%s: \"%.64s\" is not known; known: %s",
                   option, name, known);
}

/* Is the text of n bytes one of the words? */
static bool is_word(const char *words, const char *text, size_t n)
{
    while (*words != '\0') {
        size_t len = strcspn(words, " ");

        if (n == len && memcmp(words, text, n) == 0)
            return true;
        words += len;
        words += strspn(words, " ");
    }
    return false;
}

/* Not a dot file: ".sh" alone is a name. */
static const struct language *by_suffix(const char *name)
{
    const char *base = strrchr(name, '/');
    const char *dot;

    base = base == NULL ? name : base + 1;
    dot = strrchr(base, '.');
    if (dot == NULL || dot == base || name[0] == '<')
        return NULL;
    for (size_t i = 0; i < language_count; i++)
        if (is_word(languages[i].suffixes, dot, strlen(dot)))
            return &languages[i];
    return NULL;
}

bool language_suffix(const char *name)
{
    return by_suffix(name) != NULL;
}

/* The next word of a line; its length, 0 at the end. */
static size_t next_word(const char **at)
{
    *at += strspn(*at, " \t");
    return strcspn(*at, " \t\r");
}

/* "env", its options and assignments: the program is behind them. */
static bool is_env(const char *word, size_t n)
{
    return (n == 3 && memcmp(word, "env", 3) == 0) ||
           (n > 3 && memcmp(word + n - 4, "/env", 4) == 0);
}

/* Of a path of n bytes: the file's name, without a version behind it. */
static const struct language *by_program(const char *path, size_t n)
{
    for (size_t i = n; i > 0; i--)
        if (path[i - 1] == '/') {
            path += i;
            n -= i;
            break;
        }
    while (n > 1 && (isdigit((unsigned char)path[n - 1]) || path[n - 1] == '.'))
        n--;
    for (size_t i = 0; i < language_count; i++)
        if (is_word(languages[i].shebangs, path, n))
            return &languages[i];
    return NULL;
}

const struct language *language_of_program(const char *path)
{
    return by_program(path, strlen(path));
}

/* What "#!..." names; NULL: nothing that is known. */
static const struct language *by_shebang(const char *line)
{
    const char *at = line + 2;
    size_t n = next_word(&at);

    if (is_env(at, n)) {
        do {
            at += n;
            n = next_word(&at);
        } while (n > 0 && (at[0] == '-' || memchr(at, '=', n) != NULL));
    }
    return by_program(at, n);
}

int language_guess(const char *code, size_t len, const char *name,
                   const struct language **out, struct err *err)
{
    char line[SHEBANG_MAX];
    size_t n;

    *out = NULL;
    if (len >= 3 && memcmp(code, "\xef\xbb\xbf", 3) == 0) {
        code += 3; /* a byte order mark */
        len -= 3;
    }
    if (len < 2 || code[0] != '#' || code[1] != '!') {
        *out = by_suffix(name);
        return 0;
    }
    for (n = 0; n < len && n < sizeof(line) - 1; n++) {
        if (code[n] == '\n' || code[n] == '\0')
            break;
        line[n] = code[n];
    }
    line[n] = '\0';
    *out = by_shebang(line);
    if (*out != NULL)
        return 0;
    return language_unknown("the #! line (--lang overrides it)", line, err);
}

int language_check(const struct language *lang, const char *code, size_t len,
                   struct err *err)
{
    const char *nul = lang->nul || len == 0 ? NULL : memchr(code, 0, len);

    if (nul == NULL)
        return 0;
    return err_set(err, ERR_INVALID,
                   "the code holds a NUL byte (at %zu), which %s cannot have",
                   (size_t)(nul - code), lang->name);
}

int language_argv(const struct language *lang, const char *program,
                  const char *dir, uint64_t mem_bytes, struct strs *argv,
                  struct err *err)
{
    if (strs_add(argv, program, err) < 0)
        return -1;
    for (const char *const *arg = lang->args; *arg != NULL; arg++) {
        size_t n = strlen(*arg);
        int r;

        if ((*arg)[0] == '@')
            r = strs_addf(argv, err, "%s%s", dir, *arg + 1);
        else if ((*arg)[n - 1] == '=')
            r = strs_addf(argv, err, "%s%llu", *arg,
                          (unsigned long long)(mem_bytes >> 20));
        else
            r = strs_add(argv, *arg, err);
        if (r < 0)
            return -1;
    }
    return 0;
}
