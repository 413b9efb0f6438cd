"""kcmp() tells about two processes whether they share kernel objects, and orders
their addresses.

Blocked by the seccomp list.
"""
import ctypes
import os
import sys

NEEDS = ("sibling",)
WANTS = ("call.denied", "kcmp")
BARE = "user"

libc = ctypes.CDLL(None, use_errno=True)
other = int(sys.argv[1].split("=", 1)[1])
got = max(libc.syscall(312, os.getpid(), pid, 1, 0, 0) for pid in (other, 1))
if got >= 0:
    print("ESCAPED: compared addresses of the kernel")
else:
    print("refused:", os.strerror(ctypes.get_errno()))
