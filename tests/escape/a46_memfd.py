"""A program that is in no file is executed from memory (memfd_create, execveat),
and tries from there what was refused before: a user namespace.

Blocked by the seccomp list, which stays in force whatever is executed: any code
may run in a cell, and may do there what the first could.
"""
import ctypes
import os
import subprocess

WANTS = ("call.denied", "unshare")
BARE = "user"

TRY = ("import ctypes; l = ctypes.CDLL(None); "
       "free = 'Seccomp:\\t0' in open('/proc/self/status').read(); "
       "print('free' if l.unshare(0x10000000) == 0 or free else 'held')")
path = None
try:
    fd = os.memfd_create("unlisted", 0)
except OSError:
    # Where no memory cgroup counts it: a file of scratch that has no name.
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "a46")
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o700)
with open("/usr/bin/python3", "rb") as f:
    while data := f.read(1 << 20):
        os.write(fd, data)
if path:
    os.close(fd)
    fd = os.open(path, os.O_RDONLY)
    os.unlink(path)
done = subprocess.run([f"/proc/self/fd/{fd}", "-I", "-S", "-c", TRY],
                      pass_fds=[fd], capture_output=True)
if b"free" in done.stdout:
    print("ESCAPED: code from memory is not held")
else:
    print("refused:", done.stdout.decode().strip() or done.stderr.decode()[-200:])
