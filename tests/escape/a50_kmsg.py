"""The kernel's log is written: lines of the program's making among the host's,
as many as it likes.

Blocked by the view, whose /dev has no kmsg.
"""
import os

WANTS = None
BARE = "root"

for path in ("/dev/kmsg", "/proc/kmsg", "/sys/kernel/debug/tracing/trace_marker"):
    try:
        fd = os.open(path, os.O_WRONLY)
        os.write(fd, b"a50: written from a cell\n")
        print("ESCAPED: wrote", path)
        break
    except OSError as e:
        why = e
else:
    print("refused:", why)
