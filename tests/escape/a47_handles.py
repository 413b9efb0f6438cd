"""A file of the host is opened by its handle, of which every name is only guessed.
The first step is to ask for one.

Blocked by the seccomp list, which answers as a file system without handles.
"""
import ctypes
import os

WANTS = None
BARE = "user"

libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer((128).to_bytes(4, "little") + bytes(132), 136)
mount = ctypes.c_int()
got = libc.syscall(303, -100, b"/usr", room, ctypes.byref(mount), 0)
if got >= 0:
    print("ESCAPED: has a handle of /usr")
else:
    print("refused:", os.strerror(ctypes.get_errno()))
