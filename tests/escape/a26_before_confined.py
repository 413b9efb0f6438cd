"""Something of the attacker's runs before the cell is confined, or a process of the
cell was left without it (CVE-2022-31214): the first program looks at itself,
its parents, and every process that it can see.

Blocked by the order of the holder's steps: the agent is executed last, with the
filter loaded and no right left; the program is its child.
"""
import os

WANTS = None
WITHOUT_NAMESPACES = False
BARE = "user"

found, seen = [], 0
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{pid}/status") as f:
            status = dict(line.split(":", 1) for line in f if ":" in line)
    except OSError:
        continue
    if status["State"].split()[0] == "Z":
        continue
    seen += 1
    if (status["Seccomp"].strip() != "2" or status["NoNewPrivs"].strip() != "1"
            or int(status["CapEff"], 16) or int(status["CapBnd"], 16)):
        found.append(f"{pid} {status['Name'].strip()}")
print(f"ESCAPED: not confined: {found[:5]}" if found
      else f"refused: all {seen} are confined")
