"""A setting of the whole kernel is written: /proc/sys (core_pattern,
modprobe), /proc/sysrq-trigger, binfmt_misc, uevent_helper (CDK
mount_procfs). Opening one for writing is enough.

Blocked by a read-only /proc, by no /sys but the processors, by masks, and by an
id that owns none of them.
"""
import os

WANTS = None
BARE = "root"
FILES = (
    "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hotplug",
    "/proc/sys/fs/binfmt_misc/register", "/sys/kernel/uevent_helper",
    "/proc/sys/vm/panic_on_oom", "/sys/power/state", "/proc/irq/0/smp_affinity",
    "/sys/kernel/debug/tracing/tracing_on", "/sys/kernel/mm/ksm/run",
    "/sys/module/kernel/parameters/panic", "/proc/acpi/wakeup", "/proc/mtrr",
    "/sys/fs/selinux/enforce", "/proc/scsi/scsi", "/dev/mem", "/dev/kmsg",
    "/dev/watchdog", "/dev/kvm", "/dev/fuse", "/dev/loop-control", "/dev/mapper/control",
)


def files():
    yield from FILES
    for top in ("/proc/sys", "/proc/irq", "/proc/self/net", "/sys"):
        for where, dirs, names in os.walk(top):
            dirs[:] = dirs[:400]
            yield from (os.path.join(where, name) for name in names)


opened, tried = [], 0
for path in files():
    tried += 1
    try:
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        continue
    masked = os.path.exists("/dev/null") and os.path.samestat(
        os.fstat(fd), os.stat("/dev/null"))
    os.close(fd)
    if masked and path != "/dev/null":
        continue
    opened.append(path)
    if len(opened) == 5:
        break
if opened:
    print("ESCAPED: opened for writing", *opened)
else:
    print("refused: none of", tried, "can be opened for writing")
