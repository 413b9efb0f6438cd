"""Memory of the kernel for page tables: one page in each two megabytes is read,
which maps the shared page of zeroes and takes no memory of data.

Blocked by the memory cgroup; where there is none, by a sampled sum that counts
page tables.
"""
import ctypes
import os
import time

WANTS = None
BARE = "user"
OPTIONS = ("--mem", "64M", "--disk", "1M", "--wall", "60s", "--cpu-time", "40s")
ENDS = ("memory",)

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
EACH, PROCESSES = 32 << 30, 4


def fill():
    at = libc.mmap(None, ctypes.c_size_t(EACH), 1, 0x4022, -1, ctypes.c_long(0))
    if at == 2**64 - 1:
        os._exit(1)
    libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(EACH), 15)  # no huge pages
    for off in range(0, EACH, 2 << 20):
        ctypes.c_char.from_address(at + off).value
    time.sleep(3600)


pids = []
for _ in range(PROCESSES):
    pid = os.fork()
    if pid == 0:
        fill()
    pids.append(pid)
size, end = 0, time.monotonic() + 15
while time.monotonic() < end:
    size = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/status") as f:
                size += int(f.read().split("VmPTE:")[1].split()[0])
        except (OSError, IndexError):
            pass
    if size > 140 << 10 or all(os.waitpid(p, os.WNOHANG) != (0, 0) for p in pids):
        break
    time.sleep(0.05)
time.sleep(0.3)
alive = 0
for pid in pids:
    try:
        alive += os.waitpid(pid, os.WNOHANG) == (0, 0)
        os.kill(pid, 9)
    except OSError:
        pass
if size > 140 << 10 and alive == len(pids):
    print(f"ESCAPED: page tables of {size >> 10} MB")
else:
    print(f"refused: page tables of {size >> 10} MB, {alive} alive")
