"""Descriptors are parked in flight in sockets and closed, so that a process
has more open files than its limit allows: many times more.

Blocked by the kernel, which lets a user have no more in flight than the limit
of the one who sends, and the cell cannot raise that.
"""
import os
import resource
import socket

WANTS = None
BARE_CANNOT = "the kernel holds it for everybody without CAP_SYS_RESOURCE; for " \
    "root there is no limit at all"
OPTIONS = ("--nofile", "256", "--mem", "64M")
ENDS = ("memory",)

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
limit, parked, kept = soft, 0, []
try:
    resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 20, 1 << 20))
except (ValueError, OSError):
    pass
try:
    while parked < 20 * limit:
        a, b = socket.socketpair()
        a.setblocking(False)
        try:
            while True:
                fds = [os.dup(0) for _ in range(60)]
                try:
                    socket.send_fds(a, [b"x"], fds)
                    parked += len(fds)
                finally:
                    for fd in fds:
                        os.close(fd)
        except BlockingIOError:
            pass
        # The pair itself goes into another one.
        kept.append((a, b))
except OSError as e:
    print("stopped:", e)
if parked > 3 * limit:
    print("ESCAPED:", parked, "in flight with a limit of", limit)
else:
    print("refused:", parked, "in flight with a limit of", limit)
