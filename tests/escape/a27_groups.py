"""The helper that made the cell dropped the user but not the group: the program
still has a group of the operator or of root, and what they may read (isolate
2.5).

Blocked by the ids, all of them, being the cell's before the agent starts. An
ordinary user's further groups cannot be taken away without root: there the view
holds nothing of theirs.
"""
import os
import sys

WANTS = None
BARE = "root"
NEEDS = ("group_file",)

given = dict(word.split("=", 1) for word in sys.argv[1:])
found = []
ids = {*os.getresuid(), *os.getresgid()}
with open("/proc/self/status") as f:
    for line in f:
        if line.startswith(("Uid", "Gid")):
            ids.update(map(int, line.split()[1:]))
if 0 in ids:
    found.append(f"ids {sorted(ids)}")
if 0 in os.getgroups():
    found.append(f"groups {os.getgroups()}")
for path in (given["group_file"], "/etc/shadow", "/etc/gshadow"):
    try:
        with open(path) as f:
            if text := f.read(40):  # a mask is empty
                found.append(f"read {path}: {text}")
    except OSError:
        pass
for call in (os.setuid, os.setgid, os.seteuid, os.setegid):
    try:
        call(0)
        found.append(call.__name__)
    except OSError:
        pass
print(f"ESCAPED: {found}" if found else f"refused: {sorted(ids)} {os.getgroups()}")
