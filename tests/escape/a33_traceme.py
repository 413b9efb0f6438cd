"""PTRACE_TRACEME in a child: the parent traces it with the parent's rights, the
road of CVE-2019-13272.

Blocked by the seccomp list, which refuses ptrace() as a whole.
"""
import ctypes
import os

WANTS = ("call.denied", "ptrace")
BARE = "user"

libc = ctypes.CDLL(None, use_errno=True)
pid = os.fork()
if pid == 0:
    traced = libc.syscall(*map(ctypes.c_long, (101, 0, 0, 0, 0))) == 0
    if traced:
        os.kill(os.getpid(), 19)
    os._exit(0)
_, status = os.waitpid(pid, 0x40000000)
if os.WIFSTOPPED(status):
    print("ESCAPED: traces its child")
    os.kill(pid, 9)
    os.waitpid(pid, 0)
else:
    print("refused: PTRACE_TRACEME")
