"""A process whose first thread has ended lives on in its other threads and is
shown as a zombie; one that is stopped; one in vfork(), which takes no signal.

Blocked by the death of the pid namespace's first process; else by the control
group, in which all of them are.
"""
import ctypes
import os
import signal
import threading
import time

WANTS = None
BARE = "user"
NEEDS = ("token",)
CHECK = "survivors"

libc = ctypes.CDLL(None)
SYS_exit, SYS_vfork = 60, 58
for kind in ("leaderless", "stopped", "in vfork"):
    if os.fork():
        continue
    os.setsid()
    os.closerange(0, 64)
    if kind == "leaderless":
        threading.Thread(target=time.sleep, args=(3600,)).start()
        libc.syscall(SYS_exit, 0)
    elif kind == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif libc.vfork() == 0:
        time.sleep(3600)
    os._exit(0)
time.sleep(0.2)
print("planted: three that are hard to see or to kill", flush=True)
os._exit(0)
