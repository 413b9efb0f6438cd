"""A person at a terminal: karzer on a pty, keys in, what is shown out."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import karzer


def size_set(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class Person:
    """Starts `command` with the terminal as its own; use as a context."""

    def __init__(self, box, *args, rows=24, columns=80, env=None, **more):
        self.master, self.slave = pty.openpty()
        size_set(self.slave, rows, columns)
        self.before = termios.tcgetattr(self.slave)
        self.shown = b""
        self.process = subprocess.Popen(
            box.command(*args), stdin=self.slave, stdout=self.slave,
            stderr=more.pop("stderr", self.slave), cwd=box.dir,
            env={"TERM": "xterm-256color", **box.user.env, **(env or {})},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **more)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for fd in (self.master, self.slave):
            if fd >= 0:
                os.close(fd)

    def type(self, text):
        os.write(self.master, text.encode() if isinstance(text, str) else text)

    def look(self, wait=0.05):
        """Adds what is shown by now."""
        while select.select([self.master], [], [], wait)[0]:
            try:
                part = os.read(self.master, 65536)
            except OSError:
                return False
            self.shown += part
            wait = 0
        return True

    def expect(self, pattern, timeout=40):
        """Waits until it is shown; the match. What is before it is forgotten."""
        end = time.monotonic() + timeout * karzer.SLOW
        if isinstance(pattern, str):
            pattern = pattern.encode()
        while True:
            found = re.search(pattern, self.shown)
            if found:
                self.shown = self.shown[found.end():]
                return found
            assert time.monotonic() < end, f"no {pattern} in {self.shown!r}"
            self.look()

    def end(self, timeout=40):
        """Waits for karzer's end; its exit status. Reads all the while."""
        end = time.monotonic() + timeout * karzer.SLOW
        while self.process.poll() is None:
            assert time.monotonic() < end, f"still runs: {self.shown!r}"
            self.look()
        self.look()
        return self.process.returncode

    def resize(self, rows, columns):
        size_set(self.master, rows, columns)

    def modes(self):
        return termios.tcgetattr(self.slave)

    def is_raw(self):
        return not self.modes()[3] & (termios.ICANON | termios.ECHO)

    def signal(self, number):
        os.kill(self.process.pid, number)
