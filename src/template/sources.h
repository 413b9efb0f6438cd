/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources - which of apt's source files of this host are the distribution's
 * own: what a template of packages is built from. karzer knows no mirror.
 */
#ifndef KARZER_TEMPLATE_SOURCES_H
#define KARZER_TEMPLATE_SOURCES_H

#include "src/base/err.h"
#include "src/base/strs.h"

/* Paths of *.sources and *.list files, each once. Where apt has no lists yet
 * and cannot tell, all that it reads. */
int sources_find(struct strs *files, struct err *err);

/* Pure: from "ORIGIN|FILE:LINE" lines, the files whose origin is `id`, in
 * letters of any case. */
int sources_take(const char *text, const char *id, struct strs *files,
                 struct err *err);

#endif
