"""Processes, threads, zombies that nobody waits for and parents that hang in
vfork(), each kind by itself and then together: 32 at a time were allowed.

Blocked by the pids cgroup; where there is none, by a limit of processes in a
user namespace.
"""
import ctypes
import os
import sys
import threading
import time

WANTS = {"process": None, "container": None}
BARE = "user"
OPTIONS = ("--pids", "32", "--wall", "60s", "--mem", "256M")
ENDS = ("processes",)
LIMIT, TRIES = 32, 60

libc = ctypes.CDLL(None)


def hang():
    time.sleep(3600)
    os._exit(0)


def tasks(pid):
    """Processes, zombies and threads from this one down."""
    n = 0
    try:
        for tid in os.listdir(f"/proc/{pid}/task"):
            n += 1
            with open(f"/proc/{pid}/task/{tid}/children") as f:
                n += sum(tasks(int(child)) for child in f.read().split())
    except OSError:
        pass
    return n


def several(n, child):
    made = []
    for _ in range(n):
        try:
            pid = os.fork()
        except OSError:
            continue
        if pid == 0:
            child()
            os._exit(0)
        made.append(pid)
    return made


def forks(n):
    return several(n, hang)


def zombies(n):
    return several(n, lambda: None)


def in_vfork():
    os.setpgid(0, 0)
    libc.vfork()
    hang()


def vforks(n):
    made = several(n, in_vfork)
    time.sleep(0.5)
    return made


def threads(n):
    made = []
    for _ in range(n):
        try:
            t = threading.Thread(target=time.sleep, args=(2,))
            t.start()
            made.append(t)
        except RuntimeError:
            pass
    return made


def clean(pids):
    for pid in set(pids):
        try:
            os.killpg(pid, 9)
        except OSError:
            pass
        try:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        except OSError:
            pass


most = {}
for make in (forks, zombies, vforks):
    pids = make(TRIES)
    most[make.__name__] = tasks(os.getpid())
    clean(pids)
mixed = forks(12) + zombies(12)
many = threads(TRIES)
most["together"] = tasks(os.getpid())
clean(mixed)
over = {name: n for name, n in most.items() if n > LIMIT}
print(f"ESCAPED: {over}" if over else f"refused: {most}", flush=True)
os._exit(0)
