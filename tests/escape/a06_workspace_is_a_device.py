"""The directory that is shown to the next cell has been replaced by a link to
/dev, /proc or / of the host, so that the host's own is mounted there
(CVE-2026-41579, where /dev of the image was a link).

Blocked by the engine: a link that a cell may have made is not followed, and
/dev, /proc, /sys and / are refused by name.
"""
import os
import sys

WANTS = None
ENGINE = True
BARE_CANNOT = "what is attacked is karzer's own --workspace"
NEEDS = ("workspace",)
OPTIONS = ("--workspace", "{workspace}:rw")
CHECK = "shows_planted_links"

given = dict(word.split("=", 1) for word in sys.argv[1:])
for name, to in (("dev", "/dev"), ("proc", "/proc"), ("root", "/"),
                 ("sys", "/sys"), ("etc", "/etc"), ("home", "/root")):
    os.symlink(to, os.path.join(given["workspace"], name))
print("planted: six links in the workspace")
