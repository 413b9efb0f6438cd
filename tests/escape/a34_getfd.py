"""pidfd_getfd() takes open descriptors of the agent, of the parent and of a
program of another cell: the engine's stream, files of the host.

Blocked by the seccomp list; by the pid namespace; the agent is not dumpable.
"""
import os
import ctypes
import sys

WANTS = ("call.denied", "pidfd_getfd")
BARE = "user"
NEEDS = ("sibling",)

libc = ctypes.CDLL(None, use_errno=True)
sibling = int(sys.argv[1].split("=", 1)[1])
for pid in (sibling, 1, os.getppid()):
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        fd = 0
    for theirs in range(12):
        stolen = libc.syscall(438, fd, theirs, 0)
        if stolen >= 0:
            print("ESCAPED: has", os.readlink(f"/proc/self/fd/{stolen}"))
            sys.exit()
print("refused: no descriptor of others")
