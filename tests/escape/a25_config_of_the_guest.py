"""A file that the program wrote is read as configuration by what starts the next
one: its passwd decides who that runs as, its pyvenv.cfg and links what is shown
(CVE-2025-24965, CVE-2026-30892).

Blocked by ids that are numbers of the engine's, no file of a cell that is read
for a decision, and --python, whose venv must stand where it was said to.
"""
import os
import sys

WANTS = None
ENGINE = True
BARE_CANNOT = "what is attacked is karzer's own start of a cell"
NEEDS = ("host_file", "workspace")
OPTIONS = ("--workspace", "{workspace}:rw")
CHECK = "believes_no_file_of_a_cell"

given = dict(word.split("=", 1) for word in sys.argv[1:])
where = os.path.dirname(given["host_file"])
os.chdir(given["workspace"])
os.makedirs("etc")
with open("etc/passwd", "w") as f:
    f.write("user:x:0:0::/:/bin/sh\nroot:x:0:0::/:/bin/sh\n")
os.makedirs("venv/bin")
with open("venv/pyvenv.cfg", "w") as f:
    f.write(f"home = {where}\ninclude-system-site-packages = true\n")
os.symlink("/usr/bin/python3", "venv/bin/python3")
os.makedirs("tree/lib/python3.11")
open("tree/lib/python3.11/os.py", "w").close()
os.symlink(where, "tree/bin")
for name, text in ((".karzer", "workspace: /"), ("karzer.yaml", "visible: [/]"),
                   ("sitecustomize.py", "print('ran')"), (".pth", "import os")):
    with open(name, "w") as f:
        f.write(text)
print("planted: files that look like configuration")
