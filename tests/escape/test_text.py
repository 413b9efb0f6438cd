"""No text of a cell makes a terminal do something, by whatever road it comes.

Line 32 of the catalogue. What programs print is in tests/tier/test_stdio.py and
test_terminal.py; here is what karzer itself prints of theirs.
"""
import os
import pty
import select
import subprocess

import pytest

import karzer

# A title, the clipboard, a question that the terminal would answer by typing,
# and the same by single bytes of 8 bits.
HOSTILE = "\x1b]0;gotcha\x07\x1b]52;c;ZXZpbA==\x07\x1b[6n\u009d0;x\u009c\r\b"
RAW = ("\x1b", "\u009d", "\u009b", "\x07", "\b")


def on_a_terminal(box, *words):
    """What a command of karzer writes to a terminal."""
    master, slave = pty.openpty()
    box.user.own(os.ttyname(slave))
    p = subprocess.Popen(box.command(*words), stdin=subprocess.DEVNULL,
                         stdout=slave, stderr=slave, env=box.user.env, cwd=box.dir)
    os.close(slave)
    text = b""
    try:
        while select.select([master], [], [], 30 * karzer.SLOW)[0]:
            data = os.read(master, 65536)
            if not data:
                break
            text += data
    except OSError:
        pass
    finally:
        os.close(master)
        karzer.end(p)
    return text.decode("utf-8", "replace").replace("\r\n", "\n")


HOW = {
    "an exception": ("run", "-c", f"raise ValueError({HOSTILE!r})"),
    "the name of an exception": (
        "run", "-c", f"raise type('E', (Exception,), {{'__qualname__': {HOSTILE!r},"
        f" '__name__': {HOSTILE!r}}})('x')"),
    "a displayed value": ("run", "-c", f"class A:\n    def __repr__(self):\n"
                          f"        return {HOSTILE!r}\nA()"),
    "a command that is not there": ("exec", "--", f"no{HOSTILE}such"),
    "a file that cannot come out": (
        "exec", "--out", f"/tmp/{HOSTILE}:/tmp/none/x", "--", "true"),
    "names of files that are refused": (
        "run", "--out", "/tmp/t:{out}/t", "-c",
        f"import os; os.mkdir('/tmp/t'); os.mkfifo('/tmp/t/' + {HOSTILE!r})"),
    "the name of a process that makes refused calls": (
        "run", "-c", "import ctypes\n"
        f"libc = ctypes.CDLL(None); libc.prctl(15, {HOSTILE!r}.encode()[:15])\n"
        "libc.ptrace(0, 0, 0, 0)"),
}


@pytest.mark.parametrize("how", HOW)
def test_what_karzer_prints_of_a_cell_shows_controls_and_obeys_none(any_box, how):
    verb, *words = HOW[how]
    words = [w.format(out=any_box.dir) if "{out}" in w else w for w in words]
    told = on_a_terminal(any_box, verb, "--tier", "container", *words)
    log = on_a_terminal(any_box, "log")
    assert "gotcha" in told + log, repr(told)
    assert log and not [c for c in RAW if c in log], repr(log[-2000:])
    assert not [c for c in RAW if c in told], repr(told)
