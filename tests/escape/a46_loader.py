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
ARGV = ["-I", "-S", "-c", TRY]
scratch = os.environ.get("TMPDIR", "/tmp")
free, tried = [], 0


def program(path, flags):
    return os.open(path, flags, 0o755)


def attempt(name, argv):
    global tried
    try:
        done = subprocess.run(argv, capture_output=True)
    except OSError:
        return
    tried += 1
    if b"free" in done.stdout:
        free.append(name)


for loader in glob.glob("/lib64/ld-linux*") or glob.glob("/usr/lib*/*/ld-linux*"):
    attempt("ld.so", [loader, "/usr/bin/python3", *ARGV])
for place in ("/dev/shm", "/tmp", scratch):
    copy = f"{place}/a46-copy"
    try:
        with open(copy, "wb", opener=program) as f:
            f.write(open("/usr/bin/python3", "rb").read())
        attempt(place, [copy, *ARGV])
        os.unlink(copy)
    except OSError:
        pass
script = os.path.join(scratch, "a46-script")
try:
    with open(script, "w", opener=program) as f:
        f.write(f"#!/usr/bin/python3 -IS\n{TRY}\n")
    attempt("a script", [script])
except OSError:
    pass
print("ESCAPED: " + ", ".join(free) if free else f"refused: {tried} ways")
