"""Data in pipes of many processes, which is in nobody's memory: 32 MB were
allowed; 64 processes have 100 pipes each.

Blocked by the memory cgroup; where there is none, by a sampled sum that counts
every pipe as full.
"""
import ctypes
import os
import select
import time

WANTS = None
BARE = "user"
OPTIONS = ("--mem", "32M", "--disk", "1M", "--wall", "60s", "--pids", "64",
           "--nofile", "512")
ENDS = ("memory",)
block = bytes(65536)


def fill(report, seen):
    if not seen:
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # nobody may look
    sent = 0
    try:
        for _ in range(100):
            a, b = os.pipe()
            os.set_blocking(b, False)
            try:
                while True:
                    sent += os.write(b, block)
            except BlockingIOError:
                pass
    except OSError:
        pass
    os.write(report, sent.to_bytes(4, "little"))
    time.sleep(3600)


r, w = os.pipe()
pids = []
for i in range(50):
    try:
        pid = os.fork()
    except OSError:
        break
    if pid == 0:
        fill(w, i % 2)
    pids.append(pid)
sent, end = 0, time.monotonic() + 20
while sent <= 100 << 20 and time.monotonic() < end:
    if select.select([r], [], [], 2)[0]:
        sent += int.from_bytes(os.read(r, 4), "little")
    else:
        break
time.sleep(1)
alive = sum(os.waitpid(pid, os.WNOHANG) == (0, 0) for pid in pids)
for pid in pids:
    os.kill(pid, 9)
if sent > 70 << 20 and alive == len(pids):
    print(f"ESCAPED: {sent >> 20} MB in pipes")
else:
    print(f"refused: {sent >> 20} MB in pipes, {alive} of {len(pids)} alive")
