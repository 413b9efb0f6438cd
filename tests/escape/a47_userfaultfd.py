"""userfaultfd() stops the kernel in the middle of a copy for as long as the
program likes, which makes races easy to win.

Blocked by the seccomp list.
"""
import ctypes
import os

WANTS = ("call.denied", "userfaultfd")
BARE = "user"

libc = ctypes.CDLL(None, use_errno=True)
got = libc.syscall(323, 1)
if got >= 0:
    print("ESCAPED: page faults wait for us")
else:
    print("refused:", os.strerror(ctypes.get_errno()))
