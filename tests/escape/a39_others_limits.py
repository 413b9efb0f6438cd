"""Without a signal: the limits, the priority and the processors of a process of
the operator are changed until it can do nothing.

Blocked by the pid namespace; where there is none, by the seccomp list, which
lets the caller change only itself.
"""
import os
import resource
import sys

WANTS = None
BARE = "user"
NEEDS = ("victim",)

victim = int(sys.argv[1].split("=", 1)[1])
got = []
for name, do in {
    "prlimit": lambda: resource.prlimit(victim, resource.RLIMIT_NOFILE, (50, 60)),
    "setpriority": lambda: os.setpriority(os.PRIO_PROCESS, victim, 19),
    "setpriority of a user": lambda: os.setpriority(
        os.PRIO_USER, os.stat(f"/proc/{victim}").st_uid, 19),
    "sched_setaffinity": lambda: os.sched_setaffinity(victim, {0}),
    "sched_setscheduler": lambda: os.sched_setscheduler(
        victim, os.SCHED_IDLE, os.sched_param(0)),
    "oom_score_adj": lambda: open(
        f"/proc/{victim}/oom_score_adj", "w").write("1000\n"),
}.items():
    try:
        do()
        got.append(name)
    except (OSError, ValueError):
        pass
print("ESCAPED: " + ", ".join(got) if got else "refused: every one")
