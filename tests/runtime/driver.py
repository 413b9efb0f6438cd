# SPDX-License-Identifier: Apache-2.0
"""A language's driver on a socketpair, without any cell: what tests talk to.

How it is started is read from src/core/languages.def. KARZER_PYTHON, KARZER_NODE
and KARZER_BASH name other interpreters than Debian's.
"""
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("KARZER_PYTHON", "/usr/bin/python3")
VERSION = tuple(map(int, subprocess.run(
    [PYTHON, "-I", "-S", "-c", "import sys; print(*sys.version_info[:2])"],
    stdout=subprocess.PIPE, check=True).stdout.split()))
ENV = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}
RESULT, ERROR, DONE = 64, 65, 66
LAST = 1


PROGRAMS = {"python": PYTHON,
            "node": os.environ.get("KARZER_NODE", "/usr/bin/node"),
            "bash": os.environ.get("KARZER_BASH", "/usr/bin/bash")}
STRING = r'"((?:[^"\\]|\\.)*)"'
MEMORY = 256  # MiB, as `karzer run` has it


def strings(text):
    """The C texts in it, joined where only white space is between them."""
    joined = re.sub(STRING + r"[\s\\]*(?=\")", lambda m: m[0].rstrip("\\ \n\t")[:-1] + "\0", text)
    return [re.sub(r"\\(.)", r"\1", one)
            for one in re.findall(STRING, joined.replace("\0\"", ""))]


def start_line(macro):
    text = (ROOT / "src/core/language.c").read_text()
    body = text.partition("#define " + macro)[2].partition("\n\n")[0]
    return "".join(strings(body))


def arguments(lang):
    """The driver's arguments, of the row of the table."""
    text = (ROOT / "src/core/languages.def").read_text()
    row, = re.findall(r'LANGUAGE\(\w+, "%s",(.*?)\)\n' % lang, text, re.S)
    row = re.split(r",\s+(?:true|false),\s+", row)[1]
    return [start_line(one) if one.isidentifier() else one.strip('"')
            for one in re.split(r",\s+", row)]


def command(lang, home, program=None):
    found = [program or PROGRAMS[lang]]
    for one in arguments(lang):
        one = one.replace(f"@/{lang}", str(home))
        found.append(one + str(MEMORY) if one.endswith("=") else one)
    return found


def install(lang="python"):
    """The driver as `make` installs it, in a folder of its own."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="karzer-driver-"))
    for source in (ROOT / "runtime" / lang).glob("*.*"):
        shutil.copy(source, home)
    if lang == "python":
        subprocess.run([PYTHON, "-I", "-S", str(ROOT / "tools/pyc.py"), str(home)],
                       check=True)
    return home


def code_message(code, name="<code>", flags=LAST):
    code = code.encode() if isinstance(code, str) else code
    body = struct.pack("<II", flags, len(name)) + name.encode() + code
    return struct.pack("<II", len(body), 1) + body


def texts(body, count):
    at, found = 0, []
    for _ in range(count):
        size, = struct.unpack_from("<I", body, at)
        assert at + 4 + size <= len(body)
        found.append(body[at + 4:at + 4 + size])
        at += 4 + size
    assert at == len(body), "bytes too many"
    return found


class Result:
    def __init__(self, body):
        flags, count = struct.unpack_from("<II", body)
        assert flags in (0, 1) and 1 <= count <= 32
        self.value = flags == 1
        items = texts(body[8:], 2 * count)
        self.bundle = {k.decode("ascii"): v
                       for k, v in zip(items[::2], items[1::2])}
        assert len(self.bundle) == count
        self.text = self.bundle["text/plain"].decode()


class Error:
    def __init__(self, body):
        self.errno, = struct.unpack_from("<I", body)
        self.name, self.value, self.traceback = (
            item.decode() for item in texts(body[4:], 3))


class Done:
    def __init__(self, body):
        self.status, = struct.unpack("<i", body)


KINDS = {RESULT: Result, ERROR: Error, DONE: Done}


class Driver:
    """A started driver; `with` ends it whatever happens."""

    def __init__(self, home, *args, lang="python", python=None, env=ENV,
                 limits=None, **popen):
        self.ours, theirs = socket.socketpair()

        def before():
            os.dup2(theirs.fileno(), 3)
            if limits:
                limits()

        popen.setdefault("stdin", subprocess.DEVNULL)
        self.process = subprocess.Popen(
            [*command(lang, home, python), *args],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
            preexec_fn=before, pass_fds=[3], start_new_session=True, **popen)
        theirs.close()
        self.bytes = b""
        self.out = b""
        self.err = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ours.close()
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr,
                     self.process.stdin):
            if pipe:
                pipe.close()

    def send(self, data):
        self.ours.sendall(data)

    def message(self):
        """The next message, or None at the end of the channel."""
        while True:
            if len(self.bytes) >= 8:
                size, kind = struct.unpack_from("<II", self.bytes)
                assert size <= 16 << 20
                if len(self.bytes) >= 8 + size:
                    body = self.bytes[8:8 + size]
                    self.bytes = self.bytes[8 + size:]
                    return KINDS[kind](body)
            assert select.select([self.ours], [], [], 60)[0], "silent"
            try:
                data = self.ours.recv(1 << 20)
            except ConnectionResetError:  # it ended and had not read all
                data = b""
            if not data:
                assert not self.bytes, "a message that is cut off"
                return None
            self.bytes += data

    def block(self, code, name="<code>"):
        """Runs one block of a session: its messages, the last is a Done."""
        self.send(code_message(code, name, 0))
        found = []
        while not (found and isinstance(found[-1], Done)):
            one = self.message()
            assert one is not None, "the driver has ended"
            found.append(one)
        return found

    def read_until(self, pipe, want):
        data, end = b"", time.monotonic() + 60
        while want not in data and time.monotonic() < end:
            if select.select([pipe], [], [], 1)[0]:
                more = os.read(pipe.fileno(), 65536)
                if not more:
                    break
                data += more
        return data

    def finish(self, stdin=None, timeout=60):
        """Waits for the end of the program; all that it said is kept."""
        self.messages, failed = [], []

        def listen():
            try:
                for one in iter(self.message, None):
                    self.messages.append(one)
            except Exception as error:
                failed.append(error)

        reader = threading.Thread(target=listen)
        reader.start()
        self.out, self.err = self.process.communicate(stdin, timeout)
        self.status = self.process.returncode
        reader.join()
        if failed:
            raise failed[0]
        return self

    @property
    def results(self):
        return [m for m in self.messages if isinstance(m, Result)]

    @property
    def error(self):
        found = [m for m in self.messages if isinstance(m, Error)]
        assert len(found) <= 1
        return found[0] if found else None

    @property
    def text(self):
        return self.out.decode()
