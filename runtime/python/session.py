# SPDX-License-Identifier: Apache-2.0
"""session - what more than one block, or a block with a file's name, needs.

Loaded by the driver before a block that is not simply the only one.
"""
import _io
import _signal
import sys

DONE = 66
SIGNALS = tuple(range(1, 32))
BLOCK, SETMASK = _signal.SIG_BLOCK, _signal.SIG_SETMASK
sigmask = _signal.pthread_sigmask


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
    driver.flush()
    driver.send(DONE, (status & 0xffffffff).to_bytes(4, "little"))


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


def receive():
    """The next block. A signal's handler may run, and raise, while we wait;
    from the first byte on signals are held, until the block runs."""
    wait()
    driver.masked = sigmask(BLOCK, ())
    try:
        sigmask(BLOCK, SIGNALS)
        return driver.receive()
    except KeyboardInterrupt:
        return driver.receive()


def unmask():
    old, driver.masked = driver.masked, None
    sigmask(SETMASK, old)


def wait():
    from select import select

    while not driver.inbox:
        try:
            select([driver.channel], [], [])
            return
        except KeyboardInterrupt:
            pass  # nothing runs that it could interrupt
        except (OSError, ValueError):
            return
        except BaseException as error:
            driver.excepthook(type(error), error, None)
