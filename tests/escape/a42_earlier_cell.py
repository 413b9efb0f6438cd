"""The cell before, of the same user and with the same slot, left a secret in
every place that it could write, and ended. This one looks for it.

Blocked by scratch and an ipc namespace that are gone when a cell ends.
"""
import ctypes
import os
import sys

WANTS = None
BARE = "user"
NEEDS = ("earlier",)

key = int(sys.argv[1].split("=", 1)[1], 16)
got = []
for place in ("/dev/shm", "/tmp", "/var/tmp", os.environ.get("HOME", "/"),
              os.environ.get("TMPDIR", "/tmp"), "/run", "/dev"):
    try:
        with open(f"{place}/kt-{key:x}") as f:
            got.append(f"{place}: {f.read()}")
    except OSError:
        pass
if ctypes.CDLL(None).shmget(key, 0, 0) >= 0:
    got.append("System V memory")
print("ESCAPED: " + ", ".join(got) if got else "refused: nothing is left")
