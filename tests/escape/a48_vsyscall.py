"""The vsyscall page makes three system calls at a fixed address: with a filter
of the program's own that refuses one of them, it is called there.

Blocked by the kernel, which asks the filters there, too, or has no such page.
"""
import ctypes
import os
import struct

WANTS = None
BARE_CANNOT = "the kernel asks filters there for everybody"

libc = ctypes.CDLL(None, use_errno=True)
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, FILTER = 22, 38, 2
# load nr; time (201) answers EPERM; else allow
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in (
    (0x20, 0, 0, 0), (0x15, 0, 1, 201), (0x06, 0, 0, 0x00050001),
    (0x06, 0, 0, 0x7FFF0000))), 32)
program = struct.pack("HxxxxxxQ", 4, ctypes.addressof(code))
pid = os.fork()
if pid == 0:
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, FILTER, program, 0, 0) < 0:
        os._exit(2)
    now = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p)(0xFFFFFFFFFF600400)
    os._exit(1 if now(None) > 0 else 0)
status = os.waitpid(pid, 0)[1]
if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 1:
    print("ESCAPED: a call that was filtered was made")
else:
    print("refused: status", status)
