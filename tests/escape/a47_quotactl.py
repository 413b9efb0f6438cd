"""quotactl() writes back and changes the quotas of the host's disks.

Blocked by the seccomp list.
"""
import ctypes
import os

WANTS = ("call.denied", "quotactl")
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
got = libc.syscall(179, 0x80000100, None, 0, None)
if got >= 0:
    print("ESCAPED: quotas of every disk were synced")
else:
    print("refused:", os.strerror(ctypes.get_errno()))
