"""A service of the host listens on a socket in a directory of the operator, as
docker.sock or D-Bus do; the program connects to it.

Blocked by the view: the operator's directories are absent. Where Landlock alone
protects the host, by the seccomp list: there no AF_UNIX socket can be made.
"""
import socket
import sys

WANTS = None
BARE = "user"
NEEDS = ("path_socket",)

given = dict(word.split("=", 1) for word in sys.argv[1:])
try:
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(given["path_socket"])
    print("ESCAPED: connected to", given["path_socket"])
except OSError as e:
    print("refused:", e)
