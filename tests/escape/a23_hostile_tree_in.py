"""A tree from a stranger is copied in: set-id programs, device nodes, FIFOs, links
to the operator's files, an extended attribute with capabilities.

Blocked by files in: modes without set-id bits, no attribute and no device,
links as links, which lead to what the cell has.
"""
import os
import stat
import sys

WANTS = ("file.refused", "a fifo")
WITHOUT_NAMESPACES = False
BARE = "root"
NEEDS = ("host_file", "hostile_tree")
OPTIONS = ("--in", "{hostile_tree}:/tmp/tree")

given = dict(word.split("=", 1) for word in sys.argv[1:])
tree = "/tmp/tree" if os.path.isdir("/tmp/tree") else given["hostile_tree"]
found, seen = [], 0
for where, dirs, files in os.walk(tree):
    for name in dirs + files:
        path = os.path.join(where, name)
        st = os.lstat(path)
        seen += 1
        if st.st_mode & 0o6000:
            found.append(f"set-id {name}")
        if not (stat.S_ISREG(st.st_mode) or stat.S_ISDIR(st.st_mode)
                or stat.S_ISLNK(st.st_mode)):
            found.append(f"special {name}")
        if stat.S_ISLNK(st.st_mode) or stat.S_ISREG(st.st_mode):
            try:
                with open(path) as f:
                    if "SECRET" in f.read(1000):
                        found.append(f"the operator's file by {name}")
            except (OSError, ValueError):
                pass
        try:
            if os.listxattr(path, follow_symlinks=False):
                found.append(f"attribute of {name}")
        except OSError:
            pass
assert seen > 3, f"only {seen} things in {tree}"
print(f"ESCAPED: {found}" if found else f"refused: {seen} plain things")
