"""request_key() makes the kernel start /sbin/request-key, as root and in the
host's own namespaces, with words of the program's choice.

Blocked by the seccomp list.
"""
import ctypes
import errno

WANTS = ("call.denied", "request_key")
BARE = "user"

libc = ctypes.CDLL(None, use_errno=True)
key = libc.syscall(249, b"user", b"ktest-a35-absent", b"words", -3)
what = errno.errorcode.get(ctypes.get_errno(), "?")
# ENOKEY: the kernel looked, and started the program if the host has it.
if key >= 0 or what in ("ENOKEY", "ENOENT", "EKEYREJECTED"):
    print("ESCAPED: the kernel looked for the key,", what)
else:
    print("refused:", what)
