"""The program learns which files of the operator exist, by the difference between
answers: not there, not allowed, not a directory, a link (isolate's "maybe"
mounts).

Blocked by the view: what is not shown is not there, whatever is there on the
host.
"""
import errno
import os
import sys

WANTS = None
WITHOUT_NAMESPACES = False
BARE = "user"
NEEDS = ("host_file",)

given = dict(word.split("=", 1) for word in sys.argv[1:])
path = given["host_file"]


def answers(path):
    for name, call in {
        "stat": os.stat, "open": lambda p: os.open(p, os.O_RDONLY),
        "readlink": os.readlink, "chdir": os.chdir, "mkdir": os.mkdir,
        "below": lambda p: os.stat(p + "/x"), "exec": lambda p: os.execv(p, [p]),
        "rename": lambda p: os.rename(p, p + "x"), "create": lambda p: os.open(
            p, os.O_CREAT | os.O_EXCL | os.O_WRONLY),
        "access": lambda p: os.stat(p, follow_symlinks=False),
        "xattr": lambda p: os.getxattr(p, "user.x"),
        "truncate": lambda p: os.truncate(p, 10 << 20)}.items():
        if "exec" == name and os.path.exists(path):
            continue
        try:
            call(path)
            yield name, "done"
        except OSError as e:
            yield name, errno.errorcode[e.errno]


there = dict(answers(path))
absent = dict(answers(os.path.join(os.path.dirname(path), "no-such-file")))
told = {name for name in there if there[name] != absent.get(name)}
if told:
    print("ESCAPED: it is there:", {n: (there[n], absent.get(n)) for n in told})
else:
    print("refused:", there)
