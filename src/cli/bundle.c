/* SPDX-License-Identifier: Apache-2.0 */
/* bundle - see bundle.h. Bundles come from the cell: believed in nothing
 * but being an object. */
#include "src/cli/bundle.h"

#include <stdio.h>
#include <string.h>

/* Bytes of a value: text as it is, other types are base64. */
static size_t value_size(const char *mime, const json_t *value)
{
    const char *text = json_string_value(value);
    size_t len = json_string_length(value);
    size_t pad = 0;

    if (text == NULL)
        return 0;
    if (strncmp(mime, "text/", 5) == 0 || strstr(mime, "json") != NULL ||
        strstr(mime, "xml") != NULL || strstr(mime, "javascript") != NULL)
        return len;
    while (pad < 2 && pad < len && text[len - 1 - pad] == '=')
        pad++;
    return len / 4 * 3 - pad;
}

void bundle_note(const json_t *bundle, char *text, size_t size)
{
    bool plain = json_object_get(bundle, "text/plain") != NULL;
    json_t *all = (json_t *)bundle; /* jansson's iterator is not const */
    const char *mime;
    json_t *value;
    size_t n = 0;

    text[0] = '\0';
    json_object_foreach(all, mime, value)
    {
        if (strcmp(mime, "text/plain") == 0 ||
            (plain && strncmp(mime, "text/", 5) == 0))
            continue;
        if (n + 160 > size) /* room for one more and the end of the line */
            break;
        n += (size_t)snprintf(text + n, size - n, "%s%.64s, %zu bytes",
                              n == 0 ? "[" : "; ", mime,
                              value_size(mime, value));
    }
    if (n > 0)
        snprintf(text + n, size - n, "; --json has it]\n");
}

int bundle_show(const json_t *bundle, struct show *out, struct show *note)
{
    const json_t *plain = json_object_get(bundle, "text/plain");
    const char *text = json_string_value(plain);
    char line[512];

    if (text != NULL && (show_put(out, text, json_string_length(plain)) < 0 ||
                         show_put(out, "\n", 1) < 0))
        return -1;
    bundle_note(bundle, line, sizeof(line));
    return line[0] == '\0' ? 0 : show_put(note, line, strlen(line));
}
