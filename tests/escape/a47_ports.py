"""iopl() and ioperm() give access to the ports of the hardware.

Blocked by the seccomp list; by no capabilities.
"""
import ctypes
import os

WANTS = ("call.denied", "ioperm")
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
got = libc.syscall(173, ctypes.c_ulong(0x80), ctypes.c_ulong(1), 1)
if got >= 0:
    libc.syscall(173, ctypes.c_ulong(0x80), ctypes.c_ulong(1), 0)
    print("ESCAPED: may use port 0x80")
else:
    print("refused:", os.strerror(ctypes.get_errno()))
