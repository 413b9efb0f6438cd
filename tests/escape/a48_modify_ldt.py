"""modify_ldt() writes segment descriptors, 16-bit ones among them, through which
kernels have been entered and left in ways that nobody tested.

Blocked by the seccomp list.
"""
import ctypes
import os
import struct

WANTS = ("call.denied", "modify_ldt")
BARE = "user"

libc = ctypes.CDLL(None, use_errno=True)
entry = struct.pack("IIII", 0, 0, 0xFFF, 0x41)
if libc.syscall(154, 1, entry, ctypes.c_ulong(16)) == 0:
    print("ESCAPED: wrote a segment descriptor")
else:
    print("refused:", os.strerror(ctypes.get_errno()))
