"""process_vm_writev() into a program of another cell, the agent or the parent:
its memory becomes the attacker's.

Blocked by the seccomp list; by the pid namespace.
"""
import ctypes
import os
import sys

WANTS = ("call.denied", "process_vm_writev")
BARE = "user"
NEEDS = ("sibling",)

libc = ctypes.CDLL(None, use_errno=True)


class Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def stack_of(pid):
    try:
        with open(f"/proc/{pid}/maps") as f:
            return next(int(line.split("-")[0], 16) for line in f
                        if "[heap]" in line)
    except (OSError, StopIteration):
        return 0x7FFFFFFFE000


room = ctypes.create_string_buffer(8)
sibling = int(sys.argv[1].split("=", 1)[1])
for pid in (sibling, 1, os.getppid()):
    mine, theirs = Span(ctypes.addressof(room), 8), Span(stack_of(pid), 8)
    # What was there first: the victim goes on as if nothing had been.
    libc.syscall(310, pid, ctypes.byref(mine), ctypes.c_ulong(1),
                 ctypes.byref(theirs), ctypes.c_ulong(1), ctypes.c_ulong(0))
    if libc.syscall(311, pid, ctypes.byref(mine), ctypes.c_ulong(1),
                    ctypes.byref(theirs), ctypes.c_ulong(1),
                    ctypes.c_ulong(0)) == 8:
        print("ESCAPED: wrote into", pid)
        break
else:
    print("refused: no memory of others")
