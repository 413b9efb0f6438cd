"""acct() makes the kernel write a line about every process of the host that ends
to a file of the program's choice.

Blocked by the seccomp list; by no capabilities.
"""
import ctypes
import os

WANTS = ("call.denied", "acct")
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "a47-acct").encode()
open(path, "w").close()
got = libc.syscall(163, path)
if got >= 0:
    libc.syscall(163, None)
    print("ESCAPED: every process is written down")
else:
    print("refused:", os.strerror(ctypes.get_errno()))
