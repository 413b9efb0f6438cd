"""What a runtime writes to /proc/self/attr or /proc/sys for the program is led to
another file: a tmpfs, or files of the attacker's, is mounted over /proc
(CVE-2019-19921, CVE-2025-52881).

Blocked by the seccomp list, which refuses every way to mount; by a /proc that
is read-only; by a holder that writes to no file of the cell's /proc.
"""
import ctypes
import os

WANTS = ("call.denied", "mount")
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
at = "/proc/self/attr"
done = libc.mount(b"none", at.encode(), b"tmpfs", 0, None)
why = os.strerror(ctypes.get_errno())
if done == 0:
    with open(f"{at}/exec", "w") as f:
        f.write("fake")
    print("ESCAPED:", at, "holds", os.listdir(at))
    libc.umount2(at.encode(), 2)
else:
    written = []
    for name in ("exec", "current", "fscreate", "keycreate", "sockcreate",
                 "apparmor/exec", "smack/current"):
        try:
            with open(f"{at}/{name}", "w") as f:
                f.write("unconfined")
            written.append(name)
        except OSError:
            pass
    if written:
        print("ESCAPED: wrote to", *written)
    else:
        print("refused:", why)
