"""Descriptors until there are none left, and the limit raised first: 64 were
allowed in a process.

Blocked by a hard limit that is the soft one; the agent and the engine have
limits of their own.
"""
import os
import resource

WANTS = None
BARE = "user"
OPTIONS = ("--nofile", "64")

for limits in ((1 << 20, 1 << 20), (65, 65), (resource.RLIM_INFINITY,) * 2):
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    except (ValueError, OSError):
        pass
kept = []
try:
    while len(kept) < 500:
        kept.append(os.dup(1))
except OSError:
    pass
most = max([2, *kept]) + 1
print(f"{'ESCAPED' if most > 64 else 'refused'}: {most} descriptors")
