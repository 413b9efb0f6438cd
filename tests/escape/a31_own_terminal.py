"""The same commands and the neighbours of TIOCSTI on a terminal of the program's
own: pushing input, taking the console's output, another line discipline, whose
modules have been ways into the kernel.

Blocked by the seccomp list, whichever terminal it is.
"""
import ctypes
import os

WANTS = ("call.denied", "ioctl")
BARE = "root"

SYS_ioctl = 16
libc = ctypes.CDLL(None, use_errno=True)
COMMANDS = {"TIOCSTI": (0x5412, b"x"), "TIOCCONS": (0x541D, None),
            "TIOCSETD N_NULL": (0x5423, (27).to_bytes(4, "little"))}
got = []
for name, (command, argument) in COMMANDS.items():
    for high in (0, 1 << 32):
        try:
            master, slave = os.openpty()
        except OSError:
            continue
        fd = master if name == "TIOCCONS" else slave
        if libc.syscall(SYS_ioctl, fd, ctypes.c_ulong(high | command),
                        argument) == 0:
            got.append(name)
        os.close(master)
        os.close(slave)
if "TIOCCONS" in got:  # give the output back
    console = os.open("/dev/console", os.O_RDWR | os.O_NOCTTY)
    libc.syscall(SYS_ioctl, console, 0x541D, None)
print("ESCAPED: " + ", ".join(got) if got else "refused: every one")
