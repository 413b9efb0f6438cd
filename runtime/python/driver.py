# SPDX-License-Identifier: Apache-2.0
"""driver - runs blocks of Python code that come over the channel (README.md).

Started by the engine inside a cell, by the one line that README.md gives. The
other files of this folder are loaded when something first needs them, for
print(1) needs none. User code may delete, replace or shadow whatever it can
name: everything used here is held privately, from before it ran.
"""
import builtins
import posix
import sys
from _frozen_importlib_external import MAGIC_NUMBER
from _signal import pthread_sigmask
from _thread import RLock, get_ident
from marshal import loads

CHANNEL = 3
PYC = MAGIC_NUMBER + b"\1\0\0\0"  # never to be compared with its source
CODE_LAST, CODE_CHECK = 1, 2
CODE_MAX = 8 + 4096 + (16 << 20)
QUICK_MAX = 4096

# A block without one of these cannot tell whether site.py has run, nor what
# its file is called: it imports nothing, asks for no builtin that site.py
# adds, and has no way to a module or a frame.
NOTICES = (b"import", b"__", b"exec", b"eval", b"compile", b"attr", b"vars",
           b"globals", b"locals", b"dir", b"format", b"frame", b"exit",
           b"quit", b"help", b"copyright", b"credits", b"license", b"cod",
           b"breakpoint")

close, fstat, getpid, read, write = (
    posix.close, posix.fstat, posix.getpid, posix.read, posix.write)
open_fd, READ = posix.open, posix.O_RDONLY | posix.O_CLOEXEC


class Driver:
    """What the parts of the driver share."""

    get_ident, sigmask = staticmethod(get_ident), staticmethod(pthread_sigmask)
    write = staticmethod(write)

    def __init__(self):
        self.home = sys.argv.pop(1)
        self.tag = sys.implementation.cache_tag
        self.builtins = __builtins__  # our copy: none but the driver's frames have these
        self.space = sys.modules["__main__"].__dict__
        self.modules = sys.modules
        self.streams = (sys.stdout, sys.stderr)
        if sys.stdout is not None:  # a pipe, yet what was printed must be out
            sys.stdout.reconfigure(line_buffering=True)
        self.excepthook = sys.excepthook
        self.parts = {}
        self.sources = {}    # name of a block: its code
        self.quick = None    # what "<string>" stands for in tracebacks
        self.future = 0      # compiler flags of `from __future__ import`
        self.site = False    # site.py has run
        self.blocks = 0
        self.inbox = b""
        self.lock = RLock()  # held by the thread that writes
        self.queue = []
        self.masked = None   # the signal mask to go back to
        self.reserve = bytes(3 << 20)  # for a report without memory; untouched
        self.channel = self.move_channel()
        self.identity = self.identify(self.channel)
        self.pid = getpid()
        self.spare = (posix.dup2(self.channel, self.channel - 1, False)
                      if self.channel > CHANNEL else -1)
        posix.register_at_fork(after_in_child=self.forked)
        if "linecache" in sys.modules:  # it knows the line that started us
            sys.modules["linecache"].cache.pop("<string>", None)

    @staticmethod
    def move_channel():
        """Out of the way of code that counts on low numbers; not inherited."""
        for high in (1000, 200, 60):
            try:
                posix.dup2(CHANNEL, high, False)
            except OSError:
                continue
            close(CHANNEL)
            return high
        posix.set_inheritable(CHANNEL, False)
        return CHANNEL

    @staticmethod
    def identify(fd):
        try:
            stat = fstat(fd)
        except OSError:
            return None
        return stat.st_dev, stat.st_ino

    def connected(self):
        """The channel is there, is ours, and is still what it was."""
        return (self.channel >= 0 and getpid() == self.pid
                and self.identify(self.channel) == self.identity)

    def forked(self):
        """A forked child of the program has no channel and is no driver."""
        for fd in (self.channel, self.spare):
            if fd >= 0 and self.identify(fd) == self.identity:
                close(fd)
        self.channel = self.spare = -1

    def part(self, name):
        """The namespace of another file of this folder."""
        space = self.parts.get(name)
        if space is None:
            space = {"__name__": "karzer." + name, "driver": self,
                     "__builtins__": __builtins__}
            exec(self.load(name), space)
            self.parts[name] = space
        return space

    def load(self, name):
        """The code of a file of this folder, compiled if it is."""
        try:
            data = self.file("__pycache__/%s.%s.pyc" % (name, self.tag))
        except FileNotFoundError:
            data = b""
        if data[:8] == PYC:
            return loads(data[16:])
        name += ".py"
        return compile(self.file(name), self.home + "/" + name, "exec", 0,
                       True)

    def file(self, name):
        path = self.home + "/" + name
        try:
            fd = open_fd(path, READ)
        except OSError:
            # The program may have used up its file descriptors.
            if self.spare < 0 or self.identify(self.spare) != self.identity:
                raise
            close(self.spare)
            self.spare = -1
            fd = open_fd(path, READ)
        try:
            return b"".join(iter(lambda: read(fd, 1 << 14), b""))
        finally:
            close(fd)

    # the channel

    def receive(self):
        """(flags, name, code) of the next block; None at the end."""
        inbox, want = bytearray(self.inbox), 4096
        while True:
            if len(inbox) >= 8:
                size = int.from_bytes(inbox[:4], "little")
                if not 8 <= size <= CODE_MAX or inbox[4:8] != b"\1\0\0\0":
                    raise SystemExit("karzer: bad message from the engine")
                want = 8 + size - len(inbox)
                if want <= 0:
                    break
            try:
                data = read(self.channel, want)
            except OSError:
                return None
            if not data:
                return None
            inbox += data
        self.inbox = inbox[8 + size:]
        flags = int.from_bytes(inbox[8:12], "little")
        end = 16 + int.from_bytes(inbox[12:16], "little")
        name = inbox[16:end].decode("utf-8", "surrogateescape")
        return flags, name, bytes(inbox[end:8 + size])

    def send(self, kind, payload):
        """Whole messages only, whatever other threads and signals do."""
        self.queue.append(len(payload).to_bytes(4, "little")
                          + kind.to_bytes(4, "little") + payload)
        if not self.lock._is_owned():  # else a send() below us takes it
            self.part("channel")["drain"]()

    def flush(self):
        for stream in (getattr(sys, "stdout", None),
                       getattr(sys, "stderr", None)) + self.streams:
            try:
                stream.flush()
            except Exception:
                pass  # closed, broken or not a stream: the program's business

    # one block

    def run(self, name, source, last):
        """Runs a block; the exception that ended it, or None."""
        try:
            if self.masked is not None:
                self.part("session")["unmask"]()
            self.sources[name] = source
            self.space.setdefault("__builtins__", builtins)
            if not source.isascii() or any(word in source for word in NOTICES):
                if not self.site:
                    self.part("start")
            elif last and len(source) < QUICK_MAX and b"\\" not in source \
                    and source[:1] not in b" \t":
                done, error = self.run_quick(name, source)
                if done:
                    return error
            self.part("blocks")["run"](name, source)
        except BaseException as error:
            self.reserve = None
            return error

    def run_quick(self, name, source):
        """(True, its exception) for a block that is one expression. eval()
        does not set up the types of the syntax tree as compile() does, which
        costs more than all of the driver."""
        self.quick = name
        try:
            value = eval(source, self.space)
            if value is not None:
                self.part("display")["show_value"](value)
        except (SyntaxError, ValueError) as error:
            if error.__traceback__.tb_next is not None:
                return True, error  # it did compile
            self.quick = None
            return False, None
        return True, None

    def figures(self):
        """Shows the figures that a block left open."""
        if "matplotlib.pyplot" in self.modules and self.channel >= 0:
            self.part("display")["show_figures_left"]()

    def report(self, error):
        """An uncaught exception: on stderr and to the engine."""
        try:
            self.part("errors")["report"](error)
        except BaseException:
            self.part("failing")["report"](error)

    def finish(self, error):
        """Ends as a program ends: by returning, or by an exception."""
        self.space = None  # what the program leaves behind goes with __main__
        self.streams = ()
        if error is None:
            return
        if isinstance(error, SystemExit):
            raise error.with_traceback(None)
        self.report(error)
        if isinstance(error, KeyboardInterrupt):
            self.part("failing")["interrupt"](error)
        raise SystemExit(1)


def main():
    driver = Driver()

    def display(*objects):
        """Displays objects: as text, and as what their _repr_*_ methods
        give."""
        driver.part("display")["display"](objects)

    builtins.display = display
    while True:
        message = (driver.part("session")["receive"]() if driver.blocks
                   else driver.receive())
        if message is None:
            return
        flags, name, source = message
        if flags & CODE_CHECK:
            driver.part("session")["check"](source)
            continue
        last = flags & CODE_LAST
        if driver.blocks or not last or name[:1] != "<":
            name = driver.part("session")["begin"](name)
        driver.blocks += 1
        error = (driver.run(name, source, last) if last
                 else driver.part("session")["run"](name, source))
        driver.figures()
        if last or driver.channel < 0:
            return driver.finish(error)
        driver.part("session")["end"](error)
        del error


main()
