"""A directory in a directory, 4,000 deep, with a file at the end whose name no
path can say: what counts or removes scratch follows it down, runs out of stack
or descriptors, or leaves it behind.

Blocked by a tmpfs that is gone with its mount; where there is none, by a walk
that goes by descriptors and stops at no depth.
"""
import os

WANTS = None
BARE = "user"
NEEDS = ("token",)
OPTIONS = ("--inodes", "16384", "--wall", "60s")
ENDS = ("disk",)
CHECK = "left_behind"

import sys  # noqa: E402

name = sys.argv[1].split("=", 1)[1]
os.chdir(os.environ.get("TMPDIR", "/tmp"))
os.mkdir(name)
os.chdir(name)
for _ in range(4000):
    os.mkdir("d")
    os.chdir("d")
os.close(os.open("end", os.O_CREAT))
print("planted: a file below 4,000 directories", flush=True)
