"""fanotify watches, and may refuse, every opening of files on a whole file system.

Blocked by the seccomp list; by no capabilities.
"""
import ctypes
import os

WANTS = ("call.denied", "fanotify_init")
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
fd = libc.syscall(300, 0, 0)
# FAN_MARK_ADD | FAN_MARK_MOUNT, FAN_OPEN
if fd >= 0 and libc.syscall(301, fd, 0x11, ctypes.c_ulong(0x20), -100, b"/") == 0:
    print("ESCAPED: watches files of everybody")
else:
    print("refused:", os.strerror(ctypes.get_errno()))
