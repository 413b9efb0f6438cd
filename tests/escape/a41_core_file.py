"""A crash leaves a file `core` with all memory in a directory of the operator.

Blocked by the core limit and the seccomp list, which keeps it.
"""
import ctypes
import os
import resource
import sys

WANTS = None
BARE = "user"
NEEDS = ("workspace",)
OPTIONS = ("--workspace", "{workspace}:rw")
CHECK = "core_file"

folder = sys.argv[1].split("=", 1)[1]
if os.fork() == 0:
    os.chdir(folder)
    libc = ctypes.CDLL(None)
    libc.prctl(4, 1, 0, 0, 0)  # dumpable
    for limits in ((1 << 40,) * 2, (resource.RLIM_INFINITY,) * 2):
        try:
            resource.setrlimit(resource.RLIMIT_CORE, limits)
        except (ValueError, OSError):
            pass
    os.abort()
status = os.wait()[1]
if os.WCOREDUMP(status):
    print("ESCAPED: the kernel dumped a core")
else:
    print("refused: crashed without a core")
