"""TIOCLINUX on a virtual console: it selects text of the screen and pastes it
as input of whoever works there.

Blocked by the view, which has no console of the host; by the seccomp list.
"""
import ctypes
import os

WANTS = ("call.denied", "ioctl")
BARE = "root"

SYS_ioctl, TIOCLINUX = 16, 0x541C
libc = ctypes.CDLL(None, use_errno=True)
fds = [0, 1]
try:
    fds += os.openpty()
except OSError:
    pass
for path in ("/dev/tty", "/dev/tty0", "/dev/tty1", "/dev/console"):
    try:
        fds.append(os.open(path, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        pass
for fd in fds:
    # TIOCL_GETSHIFTSTATE: changes nothing.
    if libc.syscall(SYS_ioctl, fd, TIOCLINUX, bytes([6, 0, 0, 0])) >= 0:
        print("ESCAPED: a console answers")
        break
else:
    print("refused: no console answers")
