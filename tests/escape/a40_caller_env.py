"""Whoever starts the program has a secret in the environment: it is looked for
in the program's own, in that of every process, and in its own memory, where a
fork of the caller would have left it.

Blocked by the engine, which gives an environment made anew; holder and agent
are executed without any.
"""
import os
import re

WANTS = None
BARE = "user"
NEEDS = ("caller_env",)

found = set(re.findall(r"SECRET-[0-9a-f]{24}", " ".join(os.environ.values())))
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{pid}/environ", "rb") as f:
            found |= {m.decode() for m in re.findall(rb"SECRET-[0-9a-f]{24}", f.read())}
    except OSError:
        pass
print("ESCAPED: " + " ".join(found) if found else "refused: it is not there")
