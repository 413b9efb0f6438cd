"""The operator's terminal is opened by its name and written to: sequences that
set its title, fill its clipboard or draw over what it showed.

Blocked by the view: /dev/pts is the cell's own, and there is no /dev/tty.
"""
import os
import sys

WANTS = None
BARE = "user"
NEEDS = ("pty",)

path = sys.argv[1].split("=", 1)[1]
number = os.path.basename(path)
for name in (path, f"/dev/pts/../pts/{number}", "/dev/tty", "/proc/1/fd/0",
             "/proc/1/fd/1", f"/proc/{os.getppid()}/fd/0"):
    try:
        fd = os.open(name, os.O_WRONLY | os.O_NOCTTY)
    except OSError:
        continue
    if os.isatty(fd):
        os.write(fd, b"\33]52;c;ZXZpbA==\7")
        print("ESCAPED: wrote to", os.ttyname(fd))
        break
else:
    print("refused: no name leads to a terminal")
