"""The control groups of the host, or of the operator's login, are writable: the
program makes a group of its own without a limit and moves there
(CVE-2023-25809).

Blocked by the view, in which there is no cgroup file system, and by the seccomp
list, which lets none be mounted.
"""
import ctypes
import os

WANTS = ("call.denied", "mount")
WITHOUT_NAMESPACES = False
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
os.makedirs("/tmp/a13", exist_ok=True)
mounted = libc.mount(b"none", b"/tmp/a13", b"cgroup2", 0, None) == 0
places = {"/sys/fs/cgroup"} | ({"/tmp/a13"} if mounted else set())
with open("/proc/self/mountinfo") as f:
    for line in f:
        left, right = line.split(" - ")
        if right.startswith("cgroup"):
            places.add(left.split()[4])
escaped, tried = [], 0
for place in places:
    for where, dirs, _ in os.walk(place):
        tried += 1
        try:
            os.mkdir(f"{where}/a13-group")
            os.rmdir(f"{where}/a13-group")
            escaped.append(where)
        except OSError:
            pass
        dirs[:] = dirs[:50] if len(escaped) < 2 else []
if mounted:
    libc.umount2(b"/tmp/a13", 2)
if escaped:
    print("ESCAPED: made a group in", *escaped)
else:
    print("refused: no group in", tried, "places")
