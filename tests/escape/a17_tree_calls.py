"""A read-only mount is made writable, or copied without what covers its parts:
open_tree, open_tree_attr, mount_setattr, fspick, pivot_root, chroot, and
statmount and listmount to find them.

Blocked by the seccomp list, which is one of what is allowed.
"""
import ctypes
import os
import struct

WANTS = ("call.denied", "mount_setattr")
WITHOUT_NAMESPACES = False
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
os.makedirs("/tmp/a17-tree/old", exist_ok=True)
ID = struct.pack("IIQQ", 24, 0, 0xffffffffffffffff, 0)
none = struct.pack("4Q", 0, 0, 0, 0)
CALLS = {
    "open_tree": (428, -100, b"/usr", 0x8001),
    "open_tree_attr": (467, -100, b"/usr", 0x8001, none, 32),
    "mount_setattr": (442, -100, b"/usr", 0, none, 32),
    "fspick": (433, -100, b"/", 0),
    "statmount": (457, ID, ctypes.create_string_buffer(4096), 4096, 0),
    "listmount": (458, ID, ctypes.create_string_buffer(4096), 512, 0),
    "pivot_root": (155, b"/tmp/a17-tree", b"/tmp/a17-tree/old"),
    "chroot": (161, b"/"),
}
done, why = [], {}
for name, (nr, *args) in CALLS.items():
    if libc.syscall(nr, *args) >= 0:
        done.append(name)
    else:
        why[name] = os.strerror(ctypes.get_errno())
os.removedirs("/tmp/a17-tree/old")
print(f"ESCAPED: {done}" if done else f"refused: {why}")
