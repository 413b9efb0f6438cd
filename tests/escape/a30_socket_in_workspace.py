"""A service of the operator listens in the tree that is shown, as an editor's or an
agent's does: by its name, by a hard link that the program makes, after a rename
of the directory that holds it, through /proc/self/fd.

Blocked by masks over the sockets of a shown tree. Where Landlock alone protects
the host, by the seccomp list: no AF_UNIX socket.
"""
import os
import socket
import sys

WANTS = None
BARE = "user"
NEEDS = ("socket_tree",)
OPTIONS = ("--workspace", "{socket_tree}:rw")

given = dict(word.split("=", 1) for word in sys.argv[1:])
os.chdir(given["socket_tree"])
names = ["deep/er/service.sock"]
for make in (lambda: os.link(names[0], "link"),
             lambda: os.rename("deep", "moved"),
             lambda: os.rename("moved/er/service.sock", "out"),
             lambda: os.unlink("moved/er/service.sock")):
    try:
        make()
    except OSError:
        pass
names += ["link", "moved/er/service.sock", "out"]
for name in list(names):
    try:
        names.append(f"/proc/self/fd/{os.open(name, os.O_PATH)}")
    except OSError:
        pass
reached, why = [], set()
for name in names:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        try:
            with socket.socket(socket.AF_UNIX, kind) as s:
                s.connect(name)
            reached.append(name)
        except OSError as e:
            why.add(e.strerror)
print(f"ESCAPED: {reached}" if reached else f"refused: {sorted(why)}")
