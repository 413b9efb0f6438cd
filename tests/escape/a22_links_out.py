"""What comes out holds links to the operator's files, absolute and with `..`, as
files, as directories, in the middle of the path: whoever copies it by path
copies what they point to, or writes there (CVE-2018-15664, kubectl cp).

Blocked by files that go out through the agent, which sees only the cell, and by
no link being made or followed on the host.
"""
import os
import sys

WANTS = ("file.refused", "/tmp/out/absolute")
WITHOUT_NAMESPACES = False
BARE = "root"
NEEDS = ("host_file", "out")
OPTIONS = ("--out", "/tmp/out:{out}")
CHECK = "only_plain_files_came_out"

given = dict(word.split("=", 1) for word in sys.argv[1:])
path = given["host_file"]
os.makedirs("/tmp/out/sub")
os.symlink(path, "/tmp/out/absolute")
os.symlink("../" * 12 + path, "/tmp/out/relative")
os.symlink(os.path.dirname(path), "/tmp/out/directory")
os.symlink("/", "/tmp/out/root")
os.symlink("loop", "/tmp/out/loop")
os.symlink(os.path.dirname(path), "/tmp/out/sub/deep")
with open("/tmp/out/plain", "w") as f:
    f.write("plain")
print("planted: six links in what comes out")
