"""Runs in a cell: many attacks, each a process of its own, some at a time.

The folder of this file holds list.json, [[name, words…]…], and the files.
One line of JSON for each attack: its name, what it printed, how it ended. They
are forked from one interpreter and run unmodified as __main__, which costs
far less than to start one for each.
"""
import ctypes  # noqa: F401  most of them need it: it is loaded once
import errno  # noqa: F401
import json
import os
import select
import signal
import socket  # noqa: F401
import struct  # noqa: F401
import subprocess  # noqa: F401
import sys
import time
import traceback

AT_ONCE = 4
PR_SET_NAME = 15


def become(path, words, out):
    """In the child: never returns."""
    os.setpgid(0, 0)
    null = os.open("/dev/null", os.O_RDONLY)
    for fd, at in ((null, 0), (out, 1), (out, 2)):
        os.dup2(fd, at)
    os.closerange(3, 64)
    name = os.path.basename(path)[:-3]
    ctypes.CDLL(None).prctl(PR_SET_NAME, name[:15].encode(), 0, 0, 0)
    sys.argv = [path, *words]
    code = 0
    try:
        with open(path) as f:
            text = compile(f.read(), path, "exec")
        exec(text, {"__name__": "__main__", "__file__": path})
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else int(e.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


class One:
    def __init__(self, folder, name, words, limit):
        self.name, self.text, self.late = name, b"", False
        self.fd, out = os.pipe()
        self.until = time.monotonic() + limit
        self.pid = os.fork()
        if self.pid == 0:
            become(os.path.join(folder, name + ".py"), words, out)
        os.close(out)

    def end(self):
        """What a child of it still holds is not waited for."""
        if self.late:
            os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except OSError:
            pass
        ended = "late" if self.late else os.waitstatus_to_exitcode(status)
        print(json.dumps({"name": self.name, "end": ended,
                          "text": self.text.decode("utf-8", "replace")}),
              flush=True)


def step(running, poll):
    for fd, _ in poll.poll(200):
        one = running[fd]
        data = os.read(fd, 65536)
        one.text = (one.text + data)[-16384:]
        if not data:
            finish(running, poll, one)
    for one in list(running.values()):
        gone = os.waitid(os.P_PID, one.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        one.late = gone is None and time.monotonic() > one.until
        if gone or one.late:
            drain(one)
            finish(running, poll, one)


def drain(one):
    os.set_blocking(one.fd, False)
    try:
        while data := os.read(one.fd, 65536):
            one.text = (one.text + data)[-16384:]
    except BlockingIOError:
        pass


def finish(running, poll, one):
    poll.unregister(one.fd)
    del running[one.fd]
    one.end()


def main():
    folder = os.path.dirname(sys.argv[0])
    with open(os.path.join(folder, "list.json")) as f:
        wanted = json.load(f)
    todo, running, poll = wanted["attacks"], {}, select.poll()
    while todo or running:
        while todo and len(running) < AT_ONCE:
            name, *words = todo.pop(0)
            one = One(folder, name, words, wanted["seconds"])
            running[one.fd] = one
            poll.register(one.fd, select.POLLIN)
        step(running, poll)


main()
