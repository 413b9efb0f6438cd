/* SPDX-License-Identifier: Apache-2.0 */
/* Agent frames as the engine reads them: any bytes, in pieces of any size. */
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/cell/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct agent_frame f;
    struct stream s;
    const char *at;
    volatile unsigned sum = 0;
    int fd[2], r = 0;

    if (size > 60000 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd) < 0)
        return 0;
    if (stream_init(&s, fd[0], NULL) == 0) {
        while (r >= 0 && size > 0) {
            size_t n = 1 + data[0] % 64u;

            n = n < size ? n : size;
            if (write(fd[1], data, n) != (ssize_t)n)
                break;
            data += n;
            size -= n;
            while ((r = stream_next(&s, &f, &at, NULL)) > 0)
                for (uint32_t i = 0; i < f.size; i++)
                    sum += (unsigned char)at[i];
        }
    }
    (void)sum;
    stream_fini(&s);
    close(fd[0]);
    close(fd[1]);
    return 0;
}
