/* SPDX-License-Identifier: Apache-2.0 */
/* tell - see tell.h. The socket holds more than a hundred messages. */
#include "jail/tell.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "src/base/fd.h"

int tell(int control, const struct holder_message *m)
{
    ssize_t n;

    if (control < 0)
        return -1;
    do
        n = send(control, m, sizeof(*m), MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof(*m) ? 0 : -1;
}

int tell_until(int control, const struct holder_message *m, uint64_t until)
{
    while (tell(control, m) < 0) {
        uint64_t now = clock_us();

        if (control < 0 || errno != EAGAIN || now >= until)
            return -1;
        fd_wait(control, POLLOUT, (int)((until - now) / 1000) + 1);
    }
    return 0;
}
