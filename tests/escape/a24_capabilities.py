"""The program has a capability, or gets one: inheritable ones that a runtime
forgot (CVE-2022-24769), ambient ones that it raises, a file with capabilities
that it makes itself.

Blocked by empty sets, the bounding set among them, before the agent starts; by
no_new_privs; by nosuid, with which file capabilities count for nothing.
"""
import ctypes
import os
import struct

WANTS = None
WITHOUT_NAMESPACES = False
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
found = []
with open("/proc/self/status") as f:
    for line in f:
        if line.startswith("Cap") and int(line.split()[1], 16):
            found.append(line.strip().replace("\t", " "))
for cap in range(41):
    if libc.prctl(47, 2, cap, 0, 0) == 0:  # PR_CAP_AMBIENT_RAISE
        found.append(f"ambient {cap}")
for sets in ((1 << 21, 1 << 21, 0), (0, 0, 1 << 21), (1, 1, 1)):
    head = struct.pack("Ii", 0x20080522, 0)
    if libc.syscall(126, head, struct.pack("6I", *sets, 0, 0, 0)) == 0:
        found.append(f"capset {sets}")
for place in ("/tmp", "/dev/shm", os.path.expanduser("~")):
    path = f"{place}/a24-program"
    try:
        with open(path, "w") as f:
            f.write("x")
        os.setxattr(path, "security.capability",
                    struct.pack("<5I", 0x02000001, 0xffffffff, 0, 0xff, 0))
        found.append(f"file capabilities in {place}")
    except OSError:
        pass
    if os.path.exists(path):
        os.unlink(path)
print(f"ESCAPED: {found[:4]}" if found else "refused: there is none, and none to get")
