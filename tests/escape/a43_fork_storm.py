"""Processes that do nothing but fork a successor and end, so that whoever walks
a list of them and kills one by one is always too late.

Blocked by the death of the pid namespace's first process; else by cgroup.kill,
or a sweep that repeats until the group is empty.
"""
import os
import time

WANTS = None
BARE = "user"
NEEDS = ("token",)
CHECK = "survivors"
ENDS = ("processes",)

end = time.monotonic() + 8
for _ in range(6):
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 64)
        while time.monotonic() < end:
            try:
                if os.fork():
                    time.sleep(0.001)
                    os._exit(0)
            except OSError:
                pass
        os._exit(0)
time.sleep(0.2)
print("planted: a storm of forks", flush=True)
os._exit(0)
