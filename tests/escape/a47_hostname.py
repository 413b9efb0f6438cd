"""The host gets another name, here the one that it has.

Blocked by the seccomp list; by a uts namespace; by no capabilities.
"""
import ctypes
import os

WANTS = ("call.denied", "sethostname")
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
name = os.uname().nodename.encode()
got = libc.syscall(170, name, ctypes.c_ulong(len(name)))
if got >= 0:
    print("ESCAPED: named the host")
else:
    print("refused:", os.strerror(ctypes.get_errno()))
