/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enter - the child's way into the cell, as a list of steps in order. It ends
 * with the exec of the agent, or with a message to the holder and an exit.
 */
#ifndef KARZER_JAIL_ENTER_H
#define KARZER_JAIL_ENTER_H

#include "jail/jail.h"

_Noreturn void enter(struct jail *j);

#endif
