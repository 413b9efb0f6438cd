"""A program in another cell of the same user leaves a secret wherever two cells
could meet: /dev/shm, /tmp, System V memory, an abstract socket. This one looks.

Blocked by scratch and namespaces that each cell has for itself.
"""
import ctypes
import socket
import sys

WANTS = None
BARE = "user"
NEEDS = ("channels",)

key = int(sys.argv[1].split("=", 1)[1], 16)
got = []
for place in ("/dev/shm", "/tmp", "/var/tmp"):
    try:
        with open(f"{place}/kt-{key:x}") as f:
            got.append(f"{place}: {f.read()}")
    except OSError:
        pass
try:
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(f"\0kt-{key:x}")
    got.append("a socket")
except OSError:
    pass
libc = ctypes.CDLL(None, use_errno=True)
if libc.shmget(key, 0, 0) >= 0:
    got.append("System V memory")
print("ESCAPED: " + ", ".join(got) if got else "refused: nothing in common")
