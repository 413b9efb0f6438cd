"""Programs are started around the kernel's checks of them: by ld.so as a
program, from /dev/shm, by an interpreter's line, with LD_PRELOAD and an audit
library; each tries a user namespace.

Blocked by the seccomp list, which stays in force whatever is executed.
"""
import glob
import os
import subprocess

WANTS = ("call.denied", "unshare")
BARE = "user"

TRY = ("import ctypes; l = ctypes.CDLL(None); "
       "free = 'Seccomp:\\t0' in open('/proc/self/status').read(); "
       "print('free' if l.unshare(0x10000000) == 0 or free else 'held')")
python = ["/usr/bin/python3", "-I", "-S", "-c", TRY]
scratch = os.environ.get("TMPDIR", "/tmp")
ways = {}


def program(path, flags):
    return os.open(path, flags, 0o755)


for loader in glob.glob("/lib64/ld-linux*") or glob.glob("/usr/lib*/*/ld-linux*"):
    ways["ld.so"] = [loader, *python]
for place in ("/dev/shm", "/tmp", scratch):
    try:
        with open(f"{place}/a46-copy", "wb", opener=program) as f:
            f.write(open("/usr/bin/python3", "rb").read())
        ways[place] = [f"{place}/a46-copy", *python[1:]]
    except OSError:
        pass
with open(f"{scratch}/a46-script", "w", opener=program) as f:
    f.write(f"#!/usr/bin/python3 -IS\n{TRY}\n")
ways["a script"] = [f"{scratch}/a46-script"]
free = []
for name, argv in ways.items():
    try:
        done = subprocess.run(argv, capture_output=True)
    except OSError:
        continue
    if b"free" in done.stdout:
        free.append(name)
print("ESCAPED: " + ", ".join(free) if free else f"refused: {len(ways)} ways")
