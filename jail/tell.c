/* SPDX-License-Identifier: Apache-2.0 */
/* tell - see tell.h. The socket holds more than a hundred messages. */
#include "jail/tell.h"

#include <errno.h>
#include <sys/socket.h>

int tell(int control, const struct holder_message *m)
{
    ssize_t n;

    if (control < 0) {
        errno = EPIPE;
        return -1;
    }
    do
        n = send(control, m, sizeof(*m), MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof(*m) ? 0 : -1;
}
