"""Calls of the x32 table: the same numbers with bit 30 set, which a filter that
lists numbers to refuse does not know.

Blocked by the seccomp list, in which no row has that bit.
"""
import ctypes
import os

WANTS = None
BARE_CANNOT = "Debian's kernel has the x32 table switched off at boot"

libc = ctypes.CDLL(None, use_errno=True)
X32 = 0x40000000
done, why = [], set()
for name, nr, *args in (("getpid", 39), ("unshare", 272, 0x10000000),
                        ("mount", 165, 0, 0, 0, 0, 0), ("ptrace", 521, 0, 0, 0, 0),
                        ("execve", 520, 0, 0, 0), ("ioctl", 514, 0, 0, 0)):
    for extra in (X32, X32 | 1 << 31, X32 | 1 << 32):
        r = libc.syscall(ctypes.c_long(nr | extra), *map(ctypes.c_long, args))
        if r >= 0:
            done.append(name)
        else:
            why.add(os.strerror(ctypes.get_errno()))
print(f"ESCAPED: {done}" if done else f"refused: {why}")
