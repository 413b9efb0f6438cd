# SPDX-License-Identifier: Apache-2.0
"""errors - uncaught exceptions: Python's own text, on stderr and to the engine.

The interpreter's own sys.__excepthook__ makes the text, of the program's
frames alone. Before 3.13 it can't know the lines of code that is in no file,
so they are put in while it writes; to import traceback costs as much as the
whole start of the interpreter.
"""
import sys

ERROR = 65
EAGAIN, ENOMEM = 11, 12
NAME_MAX, VALUE_MAX, TEXT_MAX = 1 << 10, 1 << 18, 1 << 20
CHAIN_MAX = 1000


def report(error):
    if driver.quick is not None:
        driver.sources["<string>"] = driver.sources[driver.quick]
    if isinstance(error, NameError) and not driver.site:
        driver.part("start")  # its names may be what was meant
    limit = sys.getrecursionlimit()
    if limit < 1000:
        sys.setrecursionlimit(1000)
    try:
        chain = trim(error)
        fill_syntax_errors(chain)
        text = render(error, chain)
        say(error, text)
        driver.send(ERROR, encode(error, text))
    finally:
        sys.setrecursionlimit(limit)


def complain(error):
    """About a method that a display called: on stderr alone."""
    say(error, render(error, trim(error)), True)


def say(error, text, ours=False):
    """Where the interpreter would say it: sys.excepthook, sys.stderr."""
    driver.flush()
    if not ours:
        sys.last_type, sys.last_value = type(error), error
        sys.last_traceback = error.__traceback__
        sys.last_exc = error
    hook = getattr(sys, "excepthook", None)
    if ours or hook is driver.excepthook or hook is None:
        try:
            sys.stderr.write(text)
        except Exception:
            pass
    else:
        call_hook(hook, error, text)
    driver.flush()


def call_hook(hook, error, text):
    try:
        hook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as second:
        trim(second)
        second.__context__ = None
        sys.stderr.write("Error in sys.excepthook:\n%s\n"
                         "Original exception was:\n%s"
                         % (render(second, [second]), text))


# the program's frames

def chain_of(error):
    """Every exception that the text will show."""
    chain, todo = [], [error]
    while todo and len(chain) < CHAIN_MAX:
        one = todo.pop()
        if one is None or any(one is other for other in chain):
            continue
        chain.append(one)
        todo += one.__cause__, one.__context__
        todo += getattr(one, "exceptions", None) or ()
    return [one for one in chain if isinstance(one, BaseException)]


def trim(error):
    chain = chain_of(error)
    for one in chain:
        one.__traceback__ = users(one.__traceback__)
    return chain


def users(trace):
    """The traceback without the driver's frames."""
    kept = []
    while trace is not None:
        if trace.tb_frame.f_builtins is not driver.builtins:
            kept.append(trace)
        trace = trace.tb_next
    for one, following in zip(kept, kept[1:] + [None]):
        one.tb_next = following
    return kept[0] if kept else None


# the text

class Text:
    """A stderr that puts in the lines of blocks."""

    def __init__(self, chain):
        self.stderr = sys.stderr
        self.thread = driver.get_ident()
        self.parts = []
        self.start = []   # of the line being written: a group's margin
        self.chain = chain

    def write(self, text):
        if driver.get_ident() != self.thread:
            return self.stderr.write(text)
        lines = ()
        if text.startswith('  File "') and text.endswith("\n"):
            lines = source_lines(text, "".join(self.start), self.chain)
            text = named(text)
        self.parts.append(text)
        self.parts += lines
        if text.endswith("\n"):
            self.start = []
        else:
            self.start.append(text)
        return len(text)

    def flush(self):
        pass


def render(error, chain):
    if sys.version_info >= (3, 13):
        register()
    old = sys.stderr
    text = Text(chain)
    sys.stderr = text
    try:
        driver.excepthook(type(error), error, error.__traceback__)
    finally:
        sys.stderr = old
    return "".join(text.parts)


def source_lines(text, margin, chain):
    """What belongs below `  File "<code>", line 3, in f`."""
    name, sep, rest = text[8:].partition('", line ')
    number, comma, function = rest[:-1].partition(", in ")
    if not comma or name not in driver.sources or not number.isdigit() \
            or sys.version_info >= (3, 13) or shown_anyway(name):
        return []
    line = source_line(name, int(number))
    if not line.strip():
        return []
    lines = [margin, "    ", line.strip(), "\n"]
    if sys.version_info >= (3, 11):
        carets = driver.part("carets")["of"](chain, name, int(number),
                                             function, line)
        if carets:
            lines += margin, "    ", carets, "\n"
    return lines


def named(text):
    """A block that went through eval() has its name only here."""
    if driver.quick is None or not text.startswith('  File "<string>", '):
        return text
    return text.replace("<string>", driver.quick, 1)


def shown_anyway(name):
    """The interpreter reads the file itself, if there is one."""
    if name[:1] == "<":
        return False
    try:
        with open(name, "rb"):
            return True
    except OSError:
        return False


def source_line(name, number):
    lines = driver.sources.get(name, b"").splitlines()
    if not 0 < number <= len(lines):
        return ""
    return lines[number - 1].decode("utf-8", "replace")


def fill_syntax_errors(chain):
    """The compiler looks in files for the line that a late error is in."""
    for one in chain:
        if isinstance(one, SyntaxError) and one.text is None \
                and isinstance(one.lineno, int):
            one.text = source_line(one.filename, one.lineno) or None


def register():
    """From 3.13 on the interpreter itself looks in linecache."""
    import linecache

    fill_linecache(linecache)


def fill_linecache(linecache):
    for name, source in list(driver.sources.items()):
        lines = [line + "\n" for line in
                 source.decode("utf-8", "replace").splitlines()]
        linecache.cache[name] = (len(source), None, lines, name)


# the message

def encode(error, text):
    kind = type(error)
    name = getattr(kind, "__qualname__", kind.__name__)
    if kind.__module__ not in ("builtins", "__main__"):
        name = "%s.%s" % (kind.__module__, name)
    parts = [errno_of(error).to_bytes(4, "little")]
    for item, most in ((name, NAME_MAX), (text_of(error), VALUE_MAX),
                       (text, TEXT_MAX)):
        data = cut(item, most).encode("utf-8", "backslashreplace")
        parts += len(data).to_bytes(4, "little"), data
    return b"".join(parts)


def cut(text, most):
    """Head and tail of a long text: the end says what happened."""
    if len(text) <= most:
        return text
    half = most // 2
    return "%s\n... (%d characters) ...\n%s" % (
        text[:half], len(text) - 2 * half, text[-half:])


def text_of(error):
    try:
        return str(error)
    except Exception:
        return "<exception str() failed>"


def one_line(error):
    text = text_of(error)
    return type(error).__name__ + (": " + text if text else "")


def errno_of(error):
    if isinstance(error, MemoryError):
        return ENOMEM
    if isinstance(error, OSError):
        code = error.errno
        return code if isinstance(code, int) and 0 < code < 4096 else 0
    if isinstance(error, RuntimeError) and \
            text_of(error).startswith("can't start new thread"):
        return EAGAIN
    return 0
