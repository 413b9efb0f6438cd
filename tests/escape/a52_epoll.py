"""Memory of the kernel for epoll: each descriptor in each instance is an object,
so that 30 instances and 200 descriptors are 6,000 of them, in each of many
processes. 32 MB were allowed; all together take 100.

Blocked by the memory cgroup, which charges the kernel's objects; where there is
none, by a sampled sum that counts them.
"""
import os
import select
import time

WANTS = None
BARE = "user"
OPTIONS = ("--mem", "32M", "--disk", "1M", "--wall", "60s", "--cpu-time", "40s",
           "--pids", "64")
ENDS = ("memory",)
EACH, PROCESSES = 200, 50


def fill(pipe):
    made, kept = 0, []
    a, b = os.pipe()
    targets = [os.dup(a) for _ in range(190)]
    try:
        for _ in range(55):
            kept.append(select.epoll())
            for fd in targets:
                kept[-1].register(fd, select.EPOLLIN)
                made += 1
    except OSError:
        pass
    os.write(pipe, made.to_bytes(4, "little"))
    time.sleep(3600)


r, w = os.pipe()
pids = []
for _ in range(PROCESSES):
    try:
        pid = os.fork()
    except OSError:
        break
    if pid == 0:
        fill(w)
    pids.append(pid)
os.close(w)
made = sum(int.from_bytes(os.read(r, 4), "little") for _ in pids)
time.sleep(1)
alive = sum(os.waitpid(pid, os.WNOHANG) == (0, 0) for pid in pids)
for pid in pids:
    os.kill(pid, 9)
size = made * EACH * alive // max(1, len(pids))
if size > 80 << 20:
    print(f"ESCAPED: {size >> 20} MB of {made} in epoll")
else:
    print(f"refused: {size >> 20} MB of {made} in epoll, {alive} alive")
