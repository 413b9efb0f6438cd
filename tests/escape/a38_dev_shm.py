"""A POSIX shared memory object of the operator, which all may read, is opened
in /dev/shm.

Blocked by the view: /dev/shm is the cell's own scratch.
"""
import sys

WANTS = None
BARE = "user"
NEEDS = ("shm_file",)

name = sys.argv[1].split("=", 1)[1]
for place in ("/dev/shm", "/run/shm", "/proc/1/root/dev/shm"):
    try:
        with open(f"{place}/{name}") as f:
            print("ESCAPED: read", f.read())
        break
    except OSError as e:
        why = e
else:
    print("refused:", why)
