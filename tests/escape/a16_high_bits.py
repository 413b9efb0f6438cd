"""A filter that compares 64 bits, or only 32, is passed by flags with bits set
where the kernel does not look: clone() and unshare() with garbage in the upper
half, namespaces of the newer kind, and the exit signal's byte.

Blocked by the seccomp list, which looks at just the bits that the kernel looks
at, and lists what unshare() may have.
"""
import ctypes
import os

WANTS = ("call.denied", "clone")
BARE = "user"

libc = ctypes.CDLL(None, use_errno=True)
USER = 0x10000000
made, why = [], set()


def call(name, nr, *args):
    r = libc.syscall(ctypes.c_long(nr), *map(ctypes.c_long, args))
    if r == 0 and nr == 56:
        os._exit(0)
    if r < 0:
        why.add(os.strerror(ctypes.get_errno()))
        return
    if nr == 56:
        os.waitpid(r, 0)
    made.append(name)


for high in (0, 1 << 32, 1 << 62, -1 << 32):
    call(f"clone {high:#x}", 56, high | USER | 17, 0, 0, 0, 0)
    call(f"clone 2 {high:#x}", 56, high | USER | 0x20000000 | 17, 0, 0, 0, 0)
pid = os.fork()
if pid == 0:
    for high in (0, 1 << 32, 1 << 62):
        call(f"unshare {high:#x}", 272, high | USER)
        call(f"unshare time {high:#x}", 272, high | USER | 0x80)
    os._exit(len(made) > 0)
if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
    made.append("unshare")
print(f"ESCAPED: namespaces: {made}" if made else f"refused: {why}")
