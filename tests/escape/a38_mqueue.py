"""A POSIX message queue of the host is opened by its name, and a message with a
secret taken out of it.

Blocked by the ipc namespace; where there is none, by the seccomp list.
"""
import ctypes
import os
import sys

WANTS = None
BARE = "user"
NEEDS = ("mqueue",)

libc = ctypes.CDLL(None, use_errno=True)
name = sys.argv[1].split("=", 1)[1].encode()
q = libc.syscall(240, name, os.O_RDWR | os.O_NONBLOCK, 0, None)
if q < 0:
    print("refused:", os.strerror(ctypes.get_errno()))
else:
    room = ctypes.create_string_buffer(64)
    libc.syscall(243, q, room, ctypes.c_ulong(64), None, None)
    print("ESCAPED: took", room.value)
