"""perf_event_open() of a whole processor: it samples every program of the host,
also the kernel's addresses.

Blocked by the seccomp list; by no capabilities.
"""
import ctypes
import os
import struct

WANTS = ("call.denied", "perf_event_open")
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
event = struct.pack("II", 1, 112).ljust(112, b"\0")
got = libc.syscall(298, event, -1, 0, -1, 0)
if got >= 0:
    print("ESCAPED: samples a processor")
else:
    print("refused:", os.strerror(ctypes.get_errno()))
