# SPDX-License-Identifier: Apache-2.0
"""session - what more than one block, or a block with a file's name, needs.

Loaded by the driver before a block that is not simply the only one.
"""
import _io
import sys
from select import select

DONE = 66
SIGNALS = tuple(range(1, 32))
BLOCK, SETMASK = 0, 2
sigmask = driver.sigmask


def begin(name):
    """The name that this block's frames carry."""
    if name[:1] != "<":
        if driver.blocks == 0:
            sys.argv[0] = name
        driver.space["__file__"] = name
        return name
    driver.space.pop("__file__", None)
    unique, count = name, 1
    while unique in driver.sources:
        count += 1
        unique = "%s %d>" % (name.rstrip(">"), count)
    return unique


def end(error):
    """After a block that is not the last: says how it ended."""
    status = 0
    if isinstance(error, SystemExit):
        status = exit_status(error)
        reopen_stdin()
    elif error is not None:
        driver.report(error)
        status = 1
        driver.reserve = reserve()
    driver.flush()
    driver.send(DONE, (status & 0xffffffff).to_bytes(4, "little"))


def check(source):
    """Says whether it is a whole block, or more lines must follow."""
    more = False
    try:
        warnings = __import__("warnings")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiles = __import__("codeop").compile_command
            more = compiles(source.decode(), "<code>", "single") is None
    except BaseException:
        pass  # no Python: its run will say so
    driver.send(DONE, bytes((more, 0, 0, 0)))


def reserve():
    try:
        return bytes(3 << 20)
    except MemoryError:
        return None


def exit_status(error):
    """What the interpreter would exit with; says what it would say."""
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code if -2**31 <= code < 2**31 else -1
    try:
        sys.stderr.write(str(code) + "\n")
    except Exception:
        pass
    return 1


def reopen_stdin():
    """exit() and quit() close it."""
    stdin = sys.__stdin__
    if stdin is not None and stdin.closed and sys.stdin is stdin:
        try:
            sys.stdin = sys.__stdin__ = _io.open(0, encoding=stdin.encoding,
                                                 errors=stdin.errors,
                                                 closefd=False)
        except OSError:
            pass


def run(name, source):
    """Runs a block; signals are held once it has ended, for an interrupt that
    comes late must not end the driver."""
    try:
        error = driver.run(name, source, False)
        hold()
    except BaseException as late:
        error = late
        hold()
    return error


def hold():
    if driver.masked is None:
        driver.masked = sigmask(BLOCK, ())
    sigmask(BLOCK, SIGNALS)


def unmask():
    old, driver.masked = driver.masked, None
    sigmask(SETMASK, old)


def receive():
    """The next block. Handlers run, and may raise, while we wait for it."""
    while not driver.inbox:
        try:
            if wait():
                break
        except SystemExit:
            raise
        except BaseException:
            pass  # two at once
    hold()
    return driver.receive()


def wait():
    try:
        sigmask(SETMASK, driver.masked)
        try:
            select([driver.channel], [], [])
        finally:
            sigmask(BLOCK, SIGNALS)
    except KeyboardInterrupt:
        return False  # nothing runs that it could interrupt
    except (OSError, ValueError):
        return True  # no channel: receive() says so
    except Exception as error:
        driver.part("errors")["complain"](error)
        return False
    return True
