"""A device comes by other calls than mknod(): mknodat() with garbage in the upper
half of its mode, a node 0:0 as overlay file systems use it, and a node that
openat() finds in /dev of another process's root.

Blocked by the seccomp list, which looks at the 32 bits that the kernel looks
at, and by nodev on every mount.
"""
import ctypes
import os

WANTS = ("call.denied", "mknodat")
BARE = "user"

libc = ctypes.CDLL(None, use_errno=True)
made = []
for name, call in {
    "mknodat": (259, -100, b"/tmp/a11-x", 0o020600 | 1 << 40, 0),
    "mknod": (133, b"/tmp/a11-y", 0o020600 | 1 << 63 - 1, 0),
}.items():
    nr, *args = call
    words = [a if isinstance(a, bytes) else ctypes.c_long(a) for a in args]
    if libc.syscall(ctypes.c_long(nr), *words) == 0:
        made.append(name)
for path in ("/tmp/a11-x", "/tmp/a11-y"):
    if os.path.lexists(path):
        os.unlink(path)
why = os.strerror(ctypes.get_errno())
print(f"ESCAPED: {made} made a device" if made else f"refused: {why}")
