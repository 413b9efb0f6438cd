"""PTRACE_SEIZE and PTRACE_ATTACH of the agent, of whoever started the program,
and of a program of another cell of the same user: its memory and registers are
then the attacker's.

Blocked by the seccomp list; by the pid namespace; the agent is not dumpable.
"""
import ctypes
import os
import sys

WANTS = ("call.denied", "ptrace")
BARE = "user"
NEEDS = ("sibling",)

SYS_ptrace, ATTACH, DETACH, SEIZE = 101, 16, 17, 0x4206
libc = ctypes.CDLL(None, use_errno=True)


def ptrace(request, pid):
    return libc.syscall(*map(ctypes.c_long, (SYS_ptrace, request, pid, 0, 0)))


sibling = int(sys.argv[1].split("=", 1)[1])
for pid in (sibling, 1, os.getppid()):
    for request in (SEIZE, ATTACH):
        if ptrace(request, pid) == 0:
            print("ESCAPED: traces", pid)
            os.waitpid(pid, os.WNOHANG | 0x40000000)
            ptrace(DETACH, pid)
            sys.exit()
print("refused: nobody lets itself be traced")
