"""A service of the host listens on a socket with an abstract name, which is in no
directory that could be hidden, as containerd's shim did (CVE-2020-15257).

Blocked by the network namespace, which has such names of its own. Where
Landlock alone protects the host, by the seccomp list: no AF_UNIX socket.
"""
import socket
import sys

WANTS = None
BARE = "user"
NEEDS = ("abstract_socket",)

given = dict(word.split("=", 1) for word in sys.argv[1:])
names = {given["abstract_socket"]}
try:
    with open("/proc/net/unix") as f:
        names.update(line.split()[7][1:] for line in f if " @" in line)
except OSError:
    pass
reached, why = [], set()
for name in names:
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
        try:
            with socket.socket(socket.AF_UNIX, kind) as s:
                s.connect(f"\0{name}")
            reached.append(name)
        except OSError as e:
            why.add(e.strerror)
print(f"ESCAPED: {reached}" if reached else f"refused: {sorted(why)}")
