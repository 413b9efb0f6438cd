"""/proc/PID/mem of a program of another cell and of the agent is opened, read
for a secret and written.

Blocked by the pid namespace, whose /proc has neither; the agent is not
dumpable, so that its files there are root's.
"""
import os
import re
import sys

WANTS = None
BARE = "user"
NEEDS = ("sibling",)


def search(pid):
    fd = os.open(f"/proc/{pid}/mem", os.O_RDWR)
    with open(f"/proc/{pid}/maps") as f:
        spans = [line.split()[0].split("-") for line in f if " rw" in line]
    for a, b in spans:
        at, size = int(a, 16), min(int(b, 16) - int(a, 16), 8 << 20)
        try:
            found = re.search(rb"SECRET-[0-9a-f]{24}", os.pread(fd, size, at))
        except OSError:
            continue
        if found:
            os.pwrite(fd, found[0], at + found.start())
            return found[0].decode()
    return "opened, and no secret in it"


sibling = int(sys.argv[1].split("=", 1)[1])
why = []
for pid in (sibling, 1):
    try:
        print("ESCAPED:", pid, search(pid))
        break
    except OSError as e:
        why.append(str(e))
else:
    print("refused:", *why)
