"""One line without an end on standard error, byte by byte at first, through a
descriptor that was opened anew.

Blocked by caps while it streams: nothing waits for the end of a line.
"""
import os

WANTS = ("limit.hit", "output")
BARE = "user"
OPTIONS = ("--output", "16K", "--wall", "40s", "--cpu-time", "30s")
ENDS = ("output",)

try:
    fd = os.open("/proc/self/fd/2", os.O_WRONLY)
except OSError:
    fd = 2
for _ in range(5000):
    os.write(fd, b"x")
block, sent = b"x" * 65536, 0
while sent < 4 << 20:
    sent += os.write(fd, block)
os.write(1, b"\nESCAPED: a line of 4 MB with a cap of 16K\n")
