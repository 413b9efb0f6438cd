"""/proc of every process that can be seen is searched for secrets: environment,
command line, auxiliary vector, maps, stack, open files.

Blocked by the pid namespace and its own /proc, which shows the cell alone.
"""
import os
import re

WANTS = None
BARE = "user"
NEEDS = ("victim",)
# There /proc is the host's: see SECURITY.md.
WITHOUT_NAMESPACES = False

found = set()
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline", "auxv", "maps", "stack", "comm", "wchan",
                 "syscall", "limits", "cgroup", "mountinfo"):
        try:
            with open(f"/proc/{pid}/{name}", "rb") as f:
                found |= set(re.findall(rb"SECRET-[0-9a-f]{24}", f.read()))
        except OSError:
            pass
if found:
    print("ESCAPED: read", *(one.decode() for one in found))
else:
    print("refused: no secret in /proc")
