"""The clock of the host is set, here to what it is.

Blocked by the seccomp list; by no capabilities.
"""
import ctypes
import os

WANTS = ("call.denied", "clock_settime")
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
now = ctypes.create_string_buffer(16)
libc.clock_gettime(0, now)
got = libc.syscall(227, 0, now)
if got >= 0:
    print("ESCAPED: set the clock")
else:
    print("refused:", os.strerror(ctypes.get_errno()))
