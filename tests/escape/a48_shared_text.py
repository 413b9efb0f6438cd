"""A program that host and cells share in memory is mapped, made writable with
mprotect() or through /proc/self/mem, and written: the same bytes here.

Blocked by the view, in which it cannot be opened for writing; the kernel lets
no shared map of a reader's descriptor become writable.
"""
import ctypes
import os

WANTS = None
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
SHARED, PRIVATE, failed = 1, 2, 2**64 - 1
path = "/usr/bin/cmp"
got = []
for mode in (os.O_RDWR, os.O_RDONLY):
    try:
        fd = os.open(path, mode)
    except OSError:
        continue
    at = libc.mmap(None, ctypes.c_size_t(4096), 1, SHARED, fd, ctypes.c_long(0))
    if at == failed:
        continue
    if libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(4096), 7) == 0:
        ctypes.memmove(at, ctypes.string_at(at, 16), 16)
        got.append("by mprotect")
        continue
    try:
        with open("/proc/self/mem", "r+b", 0) as f:
            f.seek(at)
            f.write(ctypes.string_at(at, 16))
        got.append("through /proc/self/mem")
    except OSError:
        pass
print(f"ESCAPED: wrote {path} " + ", ".join(got) if got else "refused: read only")
