"""The magic links of another process in /proc lead to its root, its directory,
its program, its open files, its namespaces, past every mount of the cell: those
of the agent and of a program of another cell.

Blocked by the pid namespace; the agent is not dumpable.
"""
import os
import sys

WANTS = None
BARE = "user"
NEEDS = ("sibling",)

sibling = int(sys.argv[1].split("=", 1)[1])
got = []
for pid in (sibling, 1):
    for link in ("root", "cwd", "exe", "fd/0", "fd/1", "fd/3", "fd/4", "ns/mnt",
                 "ns/user", "environ", "maps", "auxv", "mem"):
        try:
            os.close(os.open(f"/proc/{pid}/{link}", os.O_RDONLY | os.O_NONBLOCK))
            got.append(f"/proc/{pid}/{link}")
        except OSError:
            pass
print("ESCAPED: " + " ".join(got) if got else "refused: every link")
