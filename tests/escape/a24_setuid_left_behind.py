"""The program leaves a set-id program in a workspace of the operator, by every call
that gives a file a mode or a capability: another user of the host starts it and
has the operator's rights.

Blocked by the seccomp list, which lets no file with set-id bits be made where a
tree of the host can be written.
"""
import ctypes
import os
import struct
import sys

WANTS = ("call.denied", "chmod")
BARE = "user"
NEEDS = ("workspace",)
OPTIONS = ("--workspace", "{workspace}:rw")
CHECK = "no_setid_was_left"

given = dict(word.split("=", 1) for word in sys.argv[1:])
libc = ctypes.CDLL(None, use_errno=True)
os.chdir(given["workspace"])
for name in ("by-chmod", "by-fchmod", "by-fchmodat", "by-fchmodat2", "by-xattr",
             "by-proc"):
    with open(name, "w") as f:
        f.write("#!/bin/sh\n")
MODE = 0o6755
os.umask(0)
fd = os.open("by-fchmod", os.O_RDWR)
for nr, *args in ((90, b"by-chmod", MODE), (91, fd, MODE),
                  (268, -100, b"by-fchmodat", MODE),
                  (452, -100, b"by-fchmodat2", MODE, 0),
                  (90, f"/proc/self/fd/{os.open('by-proc', os.O_RDONLY)}".encode(), MODE),
                  (85, b"by-creat", MODE), (2, b"by-open", 0o102, MODE),
                  (257, -100, b"by-openat", 0o102, MODE),
                  (133, b"by-mknod", 0o100000 | MODE, 0),
                  (259, -100, b"by-mknodat", 0o100000 | MODE, 0),
                  (83, b"by-mkdir", MODE), (258, -100, b"by-mkdirat", MODE),
                  (437, -100, b"by-openat2", struct.pack("3Q", 0o102, MODE, 0), 24)):
    r = libc.syscall(nr, *args)
    if r > 2 and nr in (2, 85, 257, 437):
        os.close(r)
# a name that has no link yet: made by O_TMPFILE, then linked
tmp = libc.syscall(257, -100, b".", 0o20200002, MODE)
if tmp >= 0:
    libc.linkat(-100, f"/proc/self/fd/{tmp}".encode(), -100, b"by-tmpfile", 0x400)
cap = struct.pack("<6I", 0x03000001, 0xff, 0, 0, 0, 0)
libc.setxattr(b"by-xattr", b"security.capability", cap, len(cap), 0)
print("planted: set-id programs, where that was possible")
