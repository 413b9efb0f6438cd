"""clone3() takes its flags in memory, where no filter can read them: the program
makes a user namespace by it, and so has every capability in there.

Blocked by the seccomp list, which answers that there is no clone3(), and by
max_user_namespaces 0 in the cell's own.
"""
import ctypes
import os
import struct

WANTS = None
BARE = "user"

libc = ctypes.CDLL(None, use_errno=True)
made, why = [], set()
for name, flag in (("user", 0x10000000), ("user and time", 0x10000080),
                   ("user, mount and net", 0x50020000)):
    args = struct.pack("8Q", flag, 0, 0, 0, 17, 0, 0, 0)
    pid = libc.syscall(435, args, len(args))
    if pid == 0:
        os._exit(0)
    if pid > 0:
        os.waitpid(pid, 0)
        made.append(name)
    else:
        why.add(os.strerror(ctypes.get_errno()))
print(f"ESCAPED: namespaces: {made}" if made else f"refused: {why}")
