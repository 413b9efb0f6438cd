"""Standard output without an end, from several processes: whoever keeps it runs
out of memory or disk.

Blocked by caps while it streams, and the end of the run at 64 times the cap.
"""
import os

WANTS = ("limit.hit", "output")
BARE = "user"
OPTIONS = ("--output", "16K", "--wall", "40s", "--cpu-time", "30s")
ENDS = ("output",)

block = b"0123456789abcde\n" * 4096
for _ in range(2):
    if os.fork() == 0:
        break
sent = 0
while sent < 8 << 20:
    sent += os.write(1, block)
os.write(2, b"\nESCAPED: 8 MB of output with a cap of 16K\n")
