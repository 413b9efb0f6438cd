"""The program makes user, mount and cgroup namespaces of its own, in which it has
every capability, and mounts a cgroup hierarchy there to write its release_agent
(CVE-2022-0492).

Blocked by the seccomp list, which refuses every flag of unshare() and clone()
that makes a namespace, and by max_user_namespaces 0 in the cell's own.
"""
import ctypes
import os

WANTS = ("call.denied", "unshare")
BARE = "user"

libc = ctypes.CDLL(None, use_errno=True)
ids = os.getuid(), os.getgid()
if libc.unshare(0x10000000 | 0x20000 | 0x02000000) < 0:
    print("refused:", os.strerror(ctypes.get_errno()))
else:
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {ids[0]} 1"),
                       ("gid_map", f"0 {ids[1]} 1")):
        with open(f"/proc/self/{name}", "w") as f:
            f.write(text)
    os.makedirs("/tmp/a10-nested", exist_ok=True)
    done = libc.mount(b"none", b"/tmp/a10-nested", b"cgroup2", 0, None)
    print("ESCAPED: all capabilities in a namespace;",
          "mounted" if done == 0 else os.strerror(ctypes.get_errno()))
    libc.umount2(b"/tmp/a10-nested", 2)
    os.rmdir("/tmp/a10-nested")
