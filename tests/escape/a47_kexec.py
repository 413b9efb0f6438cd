"""kexec_load() puts another kernel into memory, for the next crash or restart.
This one loads nothing.

Blocked by the seccomp list; by no capabilities.
"""
import ctypes
import os

WANTS = ("call.denied", "kexec_load")
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
got = libc.syscall(246, *map(ctypes.c_ulong, (0, 0, 0, 0)))
if got >= 0:
    print("ESCAPED: what is started next was changed")
else:
    print("refused:", os.strerror(ctypes.get_errno()))
