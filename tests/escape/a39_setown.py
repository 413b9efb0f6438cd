"""A descriptor's owner gets SIGIO when something happens: F_SETOWN, F_SETOWN_EX,
FIOSETOWN and SIOCSPGRP make a process of the operator the owner, and F_SETSIG
chooses which signal.

Blocked by the pid namespace, in which that process has no number; else by
Landlock's scope, or the holder and the seccomp list.
"""
import ctypes
import fcntl
import os
import socket
import struct
import sys
import time

WANTS = None
BARE = "user"
NEEDS = ("victim",)

victim = int(sys.argv[1].split("=", 1)[1])
libc = ctypes.CDLL(None, use_errno=True)
F_SETOWN_EX, F_SETSIG, SIGTERM = 15, 10, 15


def alive():
    try:
        with open(f"/proc/{victim}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return None


before, owned = alive(), []
for name, own in {
    "F_SETOWN": lambda fd: fcntl.fcntl(fd, fcntl.F_SETOWN, victim),
    "F_SETOWN_EX": lambda fd: fcntl.fcntl(
        fd, F_SETOWN_EX, struct.pack("ii", 1, victim)),
    "FIOSETOWN": lambda fd: fcntl.ioctl(fd, 0x8901, struct.pack("i", victim)),
    "SIOCSPGRP": lambda fd: fcntl.ioctl(fd, 0x8902, struct.pack("i", victim)),
}.items():
    a, b = socket.socketpair()
    try:
        fcntl.fcntl(a, F_SETSIG, SIGTERM)
        own(a.fileno())
        fcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        b.send(b"x")
        owned.append(name)
    except OSError:
        pass
    kept = a, b
time.sleep(0.2)
if before and not alive():
    print("ESCAPED: ended a process of the operator by", owned)
else:
    print("refused: nobody else got a signal")
