"""Whoever starts the program has a directory open, without close-on-exec: its
number is tried, then every other.

Blocked by the engine, which passes four descriptors to the holder, and the
agent, which passes three to the program.
"""
import os
import sys

WANTS = None
BARE = "user"
NEEDS = ("caller_fd",)
ALONE = True

given = int(sys.argv[1].split("=", 1)[1])
for fd in [given, *range(3, 256)]:
    try:
        f = os.open("credentials", os.O_RDONLY, dir_fd=fd)
        print("ESCAPED: read", os.read(f, 200).decode())
        break
    except OSError:
        continue
else:
    print("refused: no such descriptor")
