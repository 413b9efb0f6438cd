"""The place on the host where a file will be put is in a directory that the
program can write to: it puts a link there, or a link in its path, or a FIFO, so
that the file lands in the operator's (CVE-2026-1386).

Blocked by files out: a new file is renamed into place, no link below a
workspace is followed, and the place was opened before the program started.
"""
import os
import sys

WANTS = None
WITHOUT_NAMESPACES = False
BARE = "root"
NEEDS = ("victim_dir", "host_file", "workspace")
OPTIONS = ("--workspace", "{workspace}:rw", "--out", "/tmp/file:{workspace}/file",
           "--out", "/tmp/tree:{workspace}/tree",
           "--out", "/tmp/file:{workspace}/results")
CHECK = "planted_targets_led_nowhere"

given = dict(word.split("=", 1) for word in sys.argv[1:])
os.chdir(given["workspace"])
os.makedirs("/tmp/tree/a", exist_ok=True)
for path in ("/tmp/file", "/tmp/tree/file", "/tmp/tree/a/file"):
    with open(path, "w") as f:
        f.write("of the attacker")
os.symlink(given["host_file"], "file")
os.mkdir("tree")
os.symlink(given["victim_dir"], "tree/a")
os.symlink(given["host_file"], "tree/file")
os.symlink(given["victim_dir"], "results")
print("planted: links where files will come out")
