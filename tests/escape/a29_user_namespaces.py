"""A fault of the kernel is reached that needs a user namespace: with one come every
capability over a network of its own, netfilter, packet sockets, overlay and fuse
mounts (CVE-2022-0185, CVE-2021-22555, CVE-2024-1086, CVE-2020-14386).

Blocked at the entry: no call of the seccomp list makes a namespace or enters
one, and max_user_namespaces is 0 in the cell's own.
"""
import ctypes
import os

WANTS = ("call.denied", "setns")
BARE = "user"

libc = ctypes.CDLL(None, use_errno=True)
got, why = [], set()
flags = {"user": 0x10000000, "net": 0x40000000, "mount": 0x20000, "ipc": 0x08000000,
         "uts": 0x04000000, "pid": 0x20000000, "cgroup": 0x02000000, "time": 0x80}
for name, flag in flags.items():
    pid = os.fork()
    if pid == 0:
        os._exit(0 if libc.unshare(flag) == 0 else ctypes.get_errno())
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code == 0:
        got.append(name)
    else:
        why.add(os.strerror(code))
for name in os.listdir("/proc/self/ns"):
    fd = os.open(f"/proc/self/ns/{name}", os.O_RDONLY)
    if libc.setns(fd, 0) == 0:
        got.append(f"setns {name}")
    os.close(fd)
fd = libc.syscall(434, os.getpid(), 0)
for flag in (0x40000000, 0x20000):
    if fd >= 0 and libc.setns(fd, flag) == 0:
        got.append("setns by pidfd")
print(f"ESCAPED: {got}" if got else f"refused: {sorted(why)}")
