/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say - lines for people on stderr, "karzer: ...". Names from archives are in
 * them: every control character is shown as '?'.
 */
#ifndef KARZER_TEMPLATE_SAY_H
#define KARZER_TEMPLATE_SAY_H

void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Replaces control characters, in place. */
void say_clean(char *text);

#endif
