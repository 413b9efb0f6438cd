"""Processes that leave the program's session, group and parents, ignore every
signal, clear PR_SET_PDEATHSIG, close all descriptors and go on when it ends.

Blocked by the death of the pid namespace's first process; else by the control
group, and by what the holder has for a subreaper.
"""
import ctypes
import os
import signal
import time

WANTS = None
BARE = "user"
NEEDS = ("token",)
CHECK = "survivors"

libc = ctypes.CDLL(None)
for i in range(4):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        libc.prctl(1, 0, 0, 0, 0)  # PR_SET_PDEATHSIG
        libc.prctl(36, i % 2, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        os.chdir("/")
        os.closerange(0, 64)
        time.sleep(3600)
        os._exit(0)
time.sleep(0.1)
print("planted: four daemons", flush=True)
os._exit(0)
