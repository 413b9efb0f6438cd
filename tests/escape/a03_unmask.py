"""What the holder covered is uncovered again: the masks of /proc and /etc are
unmounted, remounted, renamed, removed, or looked around with the older path of
a descriptor.

Blocked by the seccomp list (umount2, mount, move_mount), by read-only mounts,
and by a mount namespace that the cell has no rights over.
"""
import ctypes
import os

WANTS = ("call.denied", "umount2")
WITHOUT_NAMESPACES = False
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
MASKED = ("/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sysrq-trigger",
          "/proc/acpi", "/proc/scsi", "/proc/interrupts", "/proc/cmdline")


def look(path):
    """Something of the host in it?"""
    if os.path.isdir(path):
        return bool(os.listdir(path))
    with open(path, "rb", buffering=0) as f:
        return bool(f.read(1))


shown = []
for path in MASKED:
    libc.umount2(path.encode(), 2)
    libc.mount(b"none", path.encode(), None, 32 | 4096, None)  # REMOUNT, BIND
    for way in (path, path.replace("/proc", "/proc/self/root/proc")):
        try:
            if look(way):
                shown.append(way)
        except OSError:
            pass
if shown:
    print("ESCAPED: uncovered", *shown)
else:
    print("refused: all", len(MASKED), "are covered")
