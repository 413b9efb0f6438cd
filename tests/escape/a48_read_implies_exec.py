"""personality(READ_IMPLIES_EXEC) makes all that can be read executable, in every
program that is executed afterwards.

Blocked by the seccomp list. (ADDR_NO_RANDOMIZE is allowed: it weakens the
program that asks for it, and no setuid program inherits it.)
"""
import ctypes
import os

WANTS = ("call.denied", "personality")
BARE = "user"

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(135, ctypes.c_ulong(0x0400000)) < 0:
    print("refused:", os.strerror(ctypes.get_errno()))
else:
    print(f"ESCAPED: personality is {libc.syscall(135, 0xffffffff):#x}")
