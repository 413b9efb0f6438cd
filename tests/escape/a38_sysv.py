"""System V shared memory and a message queue of the operator, found by their
key.

Blocked by the ipc namespace; where there is none, by the seccomp list.
"""
import ctypes
import sys

WANTS = None
BARE = "user"
NEEDS = ("sysv",)

key = int(sys.argv[1].split("=", 1)[1])
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
got = []
shm = libc.shmget(key, 0, 0)
if shm >= 0:
    got.append(ctypes.string_at(libc.shmat(shm, None, 0), 40).decode())
for i in range(100):  # by number, too
    at = libc.shmat(i, None, 0o10000)
    if at not in (None, 2**64 - 1) and b"SECRET-" in ctypes.string_at(at, 40):
        got.append(ctypes.string_at(at, 40).decode())
if libc.msgget(key, 0) >= 0:
    got.append("the queue")
print("ESCAPED: " + " ".join(got) if got else "refused: there is none")
