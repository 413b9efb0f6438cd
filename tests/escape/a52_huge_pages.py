"""Huge pages from the host's pool, which no memory limit counts: by mmap(), by
memfd_create() and by shmget().

Blocked by the seccomp list, which refuses the flags. Bare, the pool is empty:
that the kernel looks for pages there is enough.
"""
import ctypes
import errno
import os

WANTS = ("call.denied", "mmap")
BARE = "user"

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
got = []
try:
    fd = os.memfd_create("huge", 4)
    got.append("memfd_create")
except OSError:
    pass
for flags in (0x40022, 0x40021, 0x40022 | (21 << 26)):
    at = libc.mmap(None, ctypes.c_size_t(2 << 20), 3, flags, -1, ctypes.c_long(0))
    if at != 2**64 - 1:
        got.append("mmap")
if libc.shmget(0, ctypes.c_size_t(2 << 20), 0o1600 | 0o4000) >= 0:
    got.append("shmget")
print("ESCAPED: " + ", ".join(got) if got else "refused: no huge page")
