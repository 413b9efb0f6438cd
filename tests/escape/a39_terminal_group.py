"""A terminal of the program's own is told that a process of the operator is its
foreground group; Ctrl-C and hang-up then signal it.

Blocked by the kernel's rule that a group is of the same session; by the pid
namespace.
"""
import fcntl
import os
import struct
import sys

WANTS = None
BARE_CANNOT = "the kernel refuses groups of other sessions to everybody"
NEEDS = ("victim",)

victim = int(sys.argv[1].split("=", 1)[1])
if os.fork() == 0:
    os.setsid()
    got = []
    try:
        master, slave = os.openpty()
        fcntl.ioctl(slave, 0x540E, 0)
        fcntl.ioctl(slave, 0x5410, struct.pack("i", victim))  # TIOCSPGRP
        os.write(master, b"\3")
        fcntl.ioctl(master, 0x40045436, 2)  # TIOCSIG
        got.append("TIOCSPGRP")
    except OSError:
        pass
    print("ESCAPED: " + ", ".join(got) if got else "refused: not its group",
          flush=True)
    os._exit(0)
os.wait()
