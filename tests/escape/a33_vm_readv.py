"""process_vm_readv() of a program of another cell, of the agent and of the
parent: memory with a secret in it.

Blocked by the seccomp list; by the pid namespace.
"""
import ctypes
import os
import re
import sys

WANTS = ("call.denied", "process_vm_readv")
BARE = "user"
NEEDS = ("sibling",)

libc = ctypes.CDLL(None, use_errno=True)


class Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def read(pid, at, size):
    room = ctypes.create_string_buffer(size)
    mine, theirs = Span(ctypes.addressof(room), size), Span(at, size)
    got = libc.syscall(310, pid, ctypes.byref(mine), ctypes.c_ulong(1),
                       ctypes.byref(theirs), ctypes.c_ulong(1), ctypes.c_ulong(0))
    return room.raw[:got] if got > 0 else b""


def spans(pid):
    try:
        with open(f"/proc/{pid}/maps") as f:
            for line in f:
                a, b = (int(n, 16) for n in line.split()[0].split("-"))
                if line.split()[1].startswith("rw"):
                    yield a, min(b - a, 8 << 20)
    except OSError:
        yield 0x400000, 4096  # not told where: any answer would do


def search(pid):
    for at, size in spans(pid):
        found = re.search(rb"SECRET-[0-9a-f]{24}", read(pid, at, size))
        if found:
            return found[0].decode()
    return None


sibling = int(sys.argv[1].split("=", 1)[1])
for pid in (sibling, 1, os.getppid()):
    secret = search(pid)
    if secret:
        print("ESCAPED: read", secret, "of", pid)
        break
else:
    print("refused: no memory of others")
