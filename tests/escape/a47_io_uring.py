"""io_uring makes system calls that no filter sees.

Blocked by the seccomp list, which answers ENOSYS.
"""
import ctypes
import os

WANTS = None
BARE = "user"

libc = ctypes.CDLL(None, use_errno=True)
got = libc.syscall(425, 8, bytes(120))
if got >= 0:
    print("ESCAPED: has a ring")
else:
    print("refused:", os.strerror(ctypes.get_errno()))
