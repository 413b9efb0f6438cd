"""More processor time than one processor gives: four busy processes, each of
which takes every processor, the best priority and a scheduling class of its own
if it gets them.

Blocked by the processor quota of a control group; where there is none, by an
affinity that the seccomp list keeps.
"""
import os
import resource
import sys
import time

WANTS = None
BARE = "user"
OPTIONS = ("--cpu", "1", "--cpu-time", "60s", "--wall", "60s")

if os.cpu_count() < 2:
    print("ESCAPED: one processor alone shows nothing")
    sys.exit()
began = time.monotonic()
for _ in range(4):
    if os.fork() == 0:
        for do in (lambda: os.sched_setaffinity(0, range(os.cpu_count())),
                   lambda: os.nice(-20), os.setsid,
                   lambda: os.sched_setscheduler(
                       0, os.SCHED_RR, os.sched_param(1))):
            try:
                do()
            except OSError:
                pass
        while time.monotonic() < began + 2:
            pass
        os._exit(0)
for _ in range(4):
    os.wait()
wall = time.monotonic() - began
used = resource.getrusage(resource.RUSAGE_CHILDREN)
share = (used.ru_utime + used.ru_stime) / wall
if share > 1.35:
    print(f"ESCAPED: used {share:.2f} processors")
else:
    print(f"refused: used {share:.2f} processors")
