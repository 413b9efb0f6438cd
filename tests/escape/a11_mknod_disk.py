"""The program makes a node for the disk of the host, or for its memory, and reads
it; before that it lifts the devices group's limits (CDK rewrite_cgroup_devices).

Blocked by the seccomp list, which refuses mknod() of devices, by no
capabilities, and by nodev on every mount.
"""
import os
import stat

WANTS = ("call.denied", "mknod")
BARE = "root"


def disks():
    yield "memory", 1, 1
    yield "port", 1, 4
    with open("/proc/partitions") as f:
        for line in f.read().splitlines()[2:]:
            major, minor, _, name = line.split()
            yield name, int(major), int(minor)
    yield "vda", 254, 0
    yield "sda", 8, 0


why = set()
for path in ("/sys/fs/cgroup/devices/devices.allow", "/sys/fs/cgroup/devices.allow"):
    try:
        with open(path, "w") as f:
            f.write("a *:* rwm")
        print("ESCAPED: wrote", path)
    except OSError as e:
        why.add(e.strerror)
for place in ("/tmp", "/dev/shm", "/dev", os.path.expanduser("~")):
    for name, major, minor in disks():
        for kind in (stat.S_IFBLK, stat.S_IFCHR):
            path = f"{place}/a11-{name}"
            try:
                os.mknod(path, kind | 0o600, os.makedev(major, minor))
            except OSError as e:
                why.add(e.strerror)
                continue
            try:
                with open(path, "rb", buffering=0) as f:
                    f.seek(4096)
                    print("ESCAPED: read", len(f.read(4096)), "bytes of", name)
            except OSError as e:
                why.add(e.strerror)
            os.unlink(path)
print("refused:", *sorted(why))
