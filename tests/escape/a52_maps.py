"""Memory of the kernel for maps: each process has 65,000 of them, of pages that
nobody touches, so that no limit on data sees them. 64 MB were allowed; the maps
alone take 250.

Blocked by the memory cgroup, which charges the kernel's objects; where there is
none, by a sampled sum that counts maps.
"""
import ctypes
import mmap
import os
import time

WANTS = {"process": None, "container": None}
BARE = "user"
OPTIONS = ("--mem", "64M", "--disk", "1M", "--wall", "60s", "--cpu-time", "40s")
ENDS = ("memory",)

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
MAPS, EACH, PROCESSES = 64000, 190, 20


def fill(pipe):
    at = libc.mmap(None, ctypes.c_size_t(MAPS * 4096), 0, 0x22, -1,
                   ctypes.c_long(0))
    made = 0
    for i in range(0, MAPS, 2):
        if libc.mprotect(ctypes.c_void_p(at + i * 4096),
                         ctypes.c_size_t(4096), 1) < 0:
            break
        made += 2
    os.write(pipe, made.to_bytes(4, "little"))
    time.sleep(3600)


r, w = os.pipe()
pids = []
for _ in range(PROCESSES):
    pid = os.fork()
    if pid == 0:
        fill(w)
    pids.append(pid)
os.close(w)
made = sum(int.from_bytes(os.read(r, 4), "little") for _ in pids)
time.sleep(1)
alive = sum(os.waitpid(pid, os.WNOHANG) == (0, 0) for pid in pids)
for pid in pids:
    os.kill(pid, 9)
size = made * EACH * alive // len(pids)
if size > 140 << 20:
    print(f"ESCAPED: maps of {size >> 20} MB")
else:
    print(f"refused: maps of {size >> 20} MB")
