"""Names instead of bytes: files of 255-byte names, hard links, symbolic links of
4,000 bytes, directories, FIFOs, until the kernel has no more. 500 were allowed.

Blocked by a tmpfs with a number of inodes; where there is none, by a sampled
count that ends the run.
"""
import os
import socket

WANTS = {"process": None, "container": None}
BARE = "user"
OPTIONS = ("--inodes", "500", "--disk", "16M", "--wall", "60s")
ENDS = ("disk",)
LIMIT, TRIES = 500, 400

base = os.path.join(os.environ.get("TMPDIR", "/tmp"), "a54-names")
os.mkdir(base)
os.chdir(base)
made = 0


def bound(name):
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(name)


with open("first", "w"):
    pass
for kind, make in {
    "f": lambda n: os.close(os.open(n.ljust(255, "x"), os.O_CREAT)),
    "l": lambda n: os.link("first", n),
    "s": lambda n: os.symlink("y" * 4000, n),
    "d": os.mkdir,
    "p": os.mkfifo,
    "u": bound,
}.items():
    for i in range(TRIES):
        try:
            make(f"{kind}{i}")
            made += 1
        except OSError:
            break
print(f"{'ESCAPED' if made > LIMIT else 'refused'}: {made} names", flush=True)
