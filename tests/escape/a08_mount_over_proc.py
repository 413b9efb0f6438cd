"""A directory of the attacker's is mounted over /proc or /sys, so that what is
read and written there is his (CVE-2019-16884, CVE-2023-27561): in the cell,
by each call that can mount.

Blocked by the seccomp list; karzer refuses a --workspace at or below /proc,
/sys and /dev.
"""
import ctypes
import os

WANTS = ("call.denied", "mount")
WITHOUT_NAMESPACES = False
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
os.makedirs("/tmp/a08", exist_ok=True)
ways = {}


def note(name, result):
    ways[name] = result if result >= 0 else os.strerror(ctypes.get_errno())


note("bind", libc.mount(b"/tmp/a08", b"/sys/devices", None, 4096, None))
tree = libc.syscall(428, -100, b"/tmp/a08", 0x1)  # open_tree, OPEN_TREE_CLONE
note("open_tree", tree)
note("move_mount", libc.syscall(429, tree, b"", -100, b"/sys/devices", 4))
got = [name for name, result in ways.items() if isinstance(result, int)]
while libc.umount2(b"/sys/devices", 2) == 0 and len(got) < 9:
    got.append("umount")
os.rmdir("/tmp/a08")
print("ESCAPED: by " + " ".join(got) if got else f"refused: {ways}")
