"""The code for out-of-band data of AF_UNIX sockets is reached, in which a freed
buffer could be read and written (CVE-2025-38236): no program uses it, and a
socketpair() is all that it takes.

Blocked by the seccomp list, which refuses MSG_OOB when it is sent.
"""
import ctypes
import os
import socket

WANTS = None
BARE = "user"
MSG_OOB = 1

libc = ctypes.CDLL(None, use_errno=True)
a, b = socket.socketpair()


class iovec(ctypes.Structure):
    _fields_ = [("at", ctypes.c_char_p), ("len", ctypes.c_size_t)]


class msghdr(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint),
                ("iov", ctypes.POINTER(iovec)), ("iovlen", ctypes.c_size_t),
                ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t),
                ("flags", ctypes.c_int), ("len", ctypes.c_uint)]


one = iovec(b"x", 1)
message = msghdr(None, 0, ctypes.pointer(one), 1, None, 0, 0, 0)
sent, why = [], set()
for name, nr, *args in (("sendto", 44, b"x", 1, MSG_OOB, None, 0),
                        ("sendmsg", 46, ctypes.byref(message), MSG_OOB),
                        ("sendmmsg", 307, ctypes.byref(message), 1, MSG_OOB),
                        ("high", 44, b"x", 1, ctypes.c_long(MSG_OOB | 1 << 32),
                         None, 0)):
    if libc.syscall(nr, a.fileno(), *args) >= 0:
        sent.append(name)
    else:
        why.add(os.strerror(ctypes.get_errno()))
print(f"ESCAPED: out of band by {sent}" if sent else f"refused: {sorted(why)}")
