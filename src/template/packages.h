/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packages - a root file system of packages, as a tar file, by mmdebstrap.
 *
 * Packages run scripts when they are installed. That happens in user, mount and
 * pid namespaces with one id in them, whoever calls: nothing there is root.
 * chown() does nothing there and says that it did (a template has one owner).
 */
#ifndef KARZER_TEMPLATE_PACKAGES_H
#define KARZER_TEMPLATE_PACKAGES_H

#include "src/base/err.h"

#define PACKAGES_TAR "root.tar"
#define PACKAGES_DEBS "debs"

/* "a,b=1.2,c": names as apt takes them, and nothing that is an option. */
int packages_check(const char *list, struct err *err);

/*
 * Makes root.tar in `dir`, with the packages' files in debs; what an earlier
 * try left there is used. mmdebstrap's words go to stderr.
 */
int packages_make(int dir, const char *list, struct err *err);

#endif
