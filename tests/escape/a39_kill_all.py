"""SIGKILL to the agent, the parent, a process of the operator by its number on
the host, every number below 400, and -1: all that it may signal.

Blocked by the pid namespace, whose first process the kernel protects; else by
Landlock's scope, or by the holder, which sends signals itself.
"""
import os
import signal
import sys

WANTS = None
BARE = "user"
NEEDS = ("victim",)
ALONE = True
ENDS = ("internal",)  # it may end the agent, which is of the cell

victim = int(sys.argv[1].split("=", 1)[1])
signal.signal(signal.SIGTERM, signal.SIG_IGN)
me, parent, sent = os.getpid(), os.getppid(), []
for number in (signal.SIGSTOP, signal.SIGKILL):
    for pid in [victim, -victim, *range(1, 400), 0xFFFFFFFF + 1 + victim]:
        # With a pid namespace the agent is 1, and a parent is an agent.
        if pid in (me, -me):
            continue
        try:
            os.kill(pid, number)
            sent.append(pid)
        except (OSError, OverflowError):
            pass
if victim in sent:
    print("ESCAPED: signalled", victim, flush=True)
else:
    print("refused: reached", [p for p in sent if p not in (1, parent)],
          flush=True)
try:
    os.kill(-1, signal.SIGKILL)
except OSError:
    pass
