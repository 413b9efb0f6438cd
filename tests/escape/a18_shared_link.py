"""A directory that is shown to every run, or a part of it, has been replaced by a
link by an earlier run, so that the next one is shown the operator's files
(flatpak, CVE-2024-42472). Used as --workspace, --in, --out and --python.

Blocked by the engine, which follows no link that a cell may have made.
"""
import os
import sys

WANTS = None
ENGINE = True
BARE_CANNOT = "what is attacked is karzer's own --workspace"
NEEDS = ("host_file", "workspace")
OPTIONS = ("--workspace", "{workspace}:rw")
CHECK = "follows_no_planted_link"

given = dict(word.split("=", 1) for word in sys.argv[1:])
os.chdir(given["workspace"])
where, name = os.path.split(given["host_file"])
os.symlink(where, "link")
os.mkdir("sub")
os.symlink(where, "sub/link")
os.symlink(given["host_file"], "sub/file")
os.mkdir("venv")
os.symlink(where, "venv/bin")
with open("venv/pyvenv.cfg", "w") as f:
    f.write(f"home = {where}\n")
print("planted: links to", where)
