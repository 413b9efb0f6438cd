"""While files are taken out, a process that the program left behind exchanges
them: a file for a link, a directory for a link, a file that grows as it is read
and one that shrinks.

Blocked by what is inside being all that the agent can open; on the host the
size that was told bounds what is written, and nothing is made through a link.
"""
import ctypes
import os
import sys

WANTS = None
WITHOUT_NAMESPACES = False
BARE = "root"
NEEDS = ("host_file", "out")
OPTIONS = ("--out", "/tmp/out:{out}")
CHECK = "only_plain_files_came_out"

given = dict(word.split("=", 1) for word in sys.argv[1:])
libc = ctypes.CDLL(None, use_errno=True)
where = os.path.dirname(given["host_file"])
os.makedirs("/tmp/out/directory")
os.symlink(where, "/tmp/out/link")
os.symlink(given["host_file"], "/tmp/out/file-link")
for name in ("file", "growing", "directory/file"):
    with open(f"/tmp/out/{name}", "w") as f:
        f.write("x" * 100000)


def exchange(a, b):
    libc.renameat2(-100, f"/tmp/out/{a}".encode(), -100, f"/tmp/out/{b}".encode(), 2)


if os.fork() == 0:
    os.setsid()
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    for i in range(3000):
        exchange("directory", "link")
        exchange("file", "file-link")
        with open("/tmp/out/growing", "a" if i % 50 else "w") as f:
            f.write("x" * 1000)
        exchange("directory", "link")
        exchange("file", "file-link")
    os._exit(0)
print("planted: a process that exchanges them")
