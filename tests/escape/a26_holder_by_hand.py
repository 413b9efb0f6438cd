"""The program starts the holder itself, or takes the place of its parts: it looks
for karzer's programs and sockets, and for descriptors that lead to the engine.

Blocked by karzer not being in the view; by a holder that confines, gives no
right, and wants a sealed hand-off; by one descriptor of the agent, which is
not dumpable.
"""
import os
import stat

WANTS = None
BARE_CANNOT = "without karzer there is no holder"

found = []
for top in ("/karzer", "/run/karzer", "/usr/libexec/karzer", "/usr/local/libexec/karzer",
            "/usr/local/bin/karzer"):
    for where, _, names in os.walk(top):
        found += [os.path.join(where, n) for n in names if n.startswith("karzer-jail")]
for fd in os.listdir("/proc/self/fd"):
    try:
        if int(fd) > 2 and stat.S_ISSOCK(os.stat(f"/proc/self/fd/{fd}").st_mode):
            found.append(f"socket {fd}")
    except OSError:
        pass
for pid in filter(str.isdigit, os.listdir("/proc")):
    for thing in ("fd/3", "fd/0", "exe", "mem", "environ"):
        if int(pid) == 1:
            try:
                os.close(os.open(f"/proc/1/{thing}", os.O_RDONLY))
                found.append(f"/proc/1/{thing}")
            except OSError:
                pass
print(f"ESCAPED: reached {found}" if found else "refused: nothing of karzer's is here")
