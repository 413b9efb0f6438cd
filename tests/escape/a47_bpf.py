"""A program is loaded into the kernel with bpf(): verifier bugs have been the road
to root again and again.

Blocked by the seccomp list; by no capabilities.
"""
import ctypes
import os
import struct

WANTS = ("call.denied", "bpf")
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
# r0 = 0; exit
code = ctypes.create_string_buffer(bytes.fromhex("b700000000000000"
                                                 "9500000000000000"), 16)
name = ctypes.create_string_buffer(b"GPL")
attr = struct.pack("IIQQ", 1, 2, ctypes.addressof(code),
                   ctypes.addressof(name)).ljust(120, b"\0")
got = libc.syscall(321, 5, attr, 120)
if got >= 0:
    print("ESCAPED: the kernel runs a program of ours")
else:
    print("refused:", os.strerror(ctypes.get_errno()))
