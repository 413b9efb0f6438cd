"""What comes out holds FIFOs, sockets, set-id programs, names that no tool
expects, and a file that claims to be huge: a reader hangs, a shell breaks, a
disk fills, a user gets another's rights.

Blocked by files out, which takes regular files and directories only, gives them
two modes, bounds their sum by --disk, and checks each name as one component.
"""
import os
import socket
import sys

WANTS = ("file.refused", "/tmp/out/fifo")
WITHOUT_NAMESPACES = False
BARE = "root"
NEEDS = ("out",)
OPTIONS = ("--out", "/tmp/out:{out}")
CHECK = "only_plain_files_came_out"

given = dict(word.split("=", 1) for word in sys.argv[1:])
os.makedirs("/tmp/out/..hidden/-rf")
os.mkfifo("/tmp/out/fifo", 0o666)
try:
    with socket.socket(socket.AF_UNIX) as s:
        s.bind("/tmp/out/socket")
except OSError:
    pass
for name in ("plain", "$(id)", "a\nb", "\x1b]0;title\x07", "*", "~", "-n", "ä",
             "x" * 255):
    with open(f"/tmp/out/{name}", "w") as f:
        f.write(name)
try:
    with open("/tmp/out/program", "w") as f:
        f.write("#!/bin/sh\nid\n")
    os.chmod("/tmp/out/program", 0o6755)
except OSError:
    pass
print("planted: special files")
