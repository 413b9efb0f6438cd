"""Histories of shells, with the passwords that were typed, and what else lies
in a home: in the operator's and in every other that can be found.

Blocked by the view: homes of people are absent; another uid.
"""
import glob
import os
import re
import sys

WANTS = None
BARE = "user"
NEEDS = ("histories",)

home = sys.argv[1].split("=", 1)[1]
homes = {home, os.path.expanduser("~"), "/root", *glob.glob("/home/*"),
         "/proc/self/root" + home, "/proc/1/root" + home}
found = set()
for place in homes:
    for name in (".bash_history", ".python_history", ".psql_history", ".netrc",
                 ".ssh/id_rsa", ".aws/credentials"):
        try:
            with open(os.path.join(place, name), errors="replace") as f:
                found |= set(re.findall("SECRET-[0-9a-f]{24}", f.read()))
        except OSError:
            pass
print("ESCAPED: " + " ".join(found) if found else "refused: no history")
