"""A kernel module is loaded. This one is no module: that the kernel
looked at it is enough.

Blocked by the seccomp list; by no capabilities.
"""
import ctypes
import errno
import os

WANTS = ("call.denied", "finit_module")
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
fd = os.open("/usr/bin/cmp", os.O_RDONLY)
libc.syscall(313, fd, b"", 0)
what = errno.errorcode.get(ctypes.get_errno(), "?")
if what == "ENOEXEC":
    print("ESCAPED: the kernel looked for a module in it")
else:
    print("refused:", what)
