"""While a tree is copied in from a directory that another cell can write to, that
one exchanges its parts for links to the operator's files.

Blocked by files in, which walk by descriptors and follow no link, nor one in
the path below a workspace.
"""
import ctypes
import os
import sys
import time

WANTS = None
BARE_CANNOT = "what is attacked is karzer's own --in"
NEEDS = ("host_file", "workspace")
OPTIONS = ("--workspace", "{workspace}:rw", "--wall", "120s")
MEANWHILE = "copies_in_while_exchanged"
CHECK = "planted_nothing"

given = dict(word.split("=", 1) for word in sys.argv[1:])
libc = ctypes.CDLL(None, use_errno=True)
os.chdir(given["workspace"])
where, name = os.path.split(given["host_file"])
os.makedirs("tree/directory")
for path in ("tree/" + name, "tree/directory/" + name):
    with open(path, "w") as f:
        f.write("plain")
os.symlink(where, "tree/link")
os.symlink(given["host_file"], "tree/file-link")
open("begun", "w").close()
print("planted: exchanging", flush=True)
while not os.path.exists("enough"):
    for a, b in ((b"tree/directory", b"tree/link"),
                 (b"tree/" + name.encode(), b"tree/file-link")):
        libc.renameat2(-100, a, -100, b, 2)  # RENAME_EXCHANGE
        time.sleep(0)
