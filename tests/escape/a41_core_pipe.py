"""The host pipes core dumps into a program that runs as root outside every
sandbox. The attack raises its core limit and crashes, so that this program
parses a memory image and a name of the attacker's choice.

Blocked by a core limit of 1, which the kernel takes as "no pipe either", and by
the seccomp list, which keeps the limit.
"""
import os
import resource
import sys
import time

WANTS = None
BARE = "user"
NEEDS = ("core_pipe",)

proof = sys.argv[1].split("=", 1)[1]
for limits in ((resource.RLIM_INFINITY,) * 2, (0, 0), (2, 2), (0, 1)):
    pid = os.fork()
    if pid == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CORE, limits)
            resource.prlimit(0, resource.RLIMIT_CORE, limits)
        except (ValueError, OSError):
            pass
        os.abort()
    status = os.waitpid(pid, 0)[1]
time.sleep(0.3)
# In a cell nobody sees the proof from inside: the host looks.
if os.path.exists(proof):
    print("ESCAPED: the host's collector ran")
elif os.WCOREDUMP(status):
    print("ESCAPED: a core was dumped")
else:
    print("refused: crashed without a core")
