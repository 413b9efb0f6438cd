"""The kernel's log is read, and cleared, with syslog(): addresses, names and
what other cells did.

Blocked by the seccomp list; /proc/kmsg and /dev/kmsg are not in the view.
"""
import ctypes
import os

WANTS = ("call.denied", "syslog")
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(4096)
got = libc.syscall(103, 3, room, 4096)
size = libc.syscall(103, 10, None, 0)
if got > 0 or size > 0:
    print("ESCAPED: read", max(got, size), "bytes of the kernel's log")
else:
    print("refused:", os.strerror(ctypes.get_errno()))
