"""A signal with forged data: rt_sigqueueinfo(), pidfd_send_signal() and tgkill()
to a process of the operator.

Blocked by the pid namespace; else by Landlock's scope or by the holder.
"""
import ctypes
import os
import struct
import sys

WANTS = None
BARE = "user"
NEEDS = ("victim",)

victim = int(sys.argv[1].split("=", 1)[1])
libc = ctypes.CDLL(None, use_errno=True)
TERM, SI_QUEUE = 15, -1
info = struct.pack("iiiiiiQ", TERM, 0, SI_QUEUE, 0, 1, 0, 7).ljust(128, b"\0")
sent = []
try:
    fd = os.pidfd_open(victim)
except OSError:
    fd = -1
for name, words in {
    "rt_sigqueueinfo": (129, victim, TERM, info),
    "rt_tgsigqueueinfo": (297, victim, victim, TERM, info),
    "pidfd_send_signal": (424, fd, TERM, info, 0),
    "tgkill": (234, victim, victim, TERM),
    "tkill": (200, victim, TERM),
}.items():
    if libc.syscall(*words) == 0:
        sent.append(name)
print("ESCAPED: " + ", ".join(sent) if sent else "refused: every call")
