# SPDX-License-Identifier: Apache-2.0
"""failing - the ends that need care: no memory, and an interrupt.

Loaded by the driver when the usual report of an exception failed, and for a
program that ends by KeyboardInterrupt.
"""
import sys

ERROR = 65
ENOMEM = 12


def report(error):
    """Just the fact, with what memory is left."""
    clear_frames(error)
    try:
        return driver.part("errors")["report"](error)
    except BaseException:
        pass
    name = type(error).__name__.encode("utf-8", "backslashreplace")
    code = ENOMEM if isinstance(error, MemoryError) else 0
    driver.excepthook(type(error), error, None)
    driver.flush()
    driver.send(ERROR, code.to_bytes(4, "little")
                + len(name).to_bytes(4, "little") + name + bytes(8))


def clear_frames(error):
    """Lets go of the locals of the frames that it went through."""
    trace = error.__traceback__
    while trace is not None:
        try:
            trace.tb_frame.clear()
        except RuntimeError:
            pass  # still running: the driver's own
        trace = trace.tb_next


def interrupt(error):
    """Raises what is reported already: the interpreter ends itself by SIGINT,
    after its finalisation."""
    hook = getattr(sys, "excepthook", driver.excepthook)

    def said(*_):
        sys.excepthook = hook

    sys.excepthook = said
    raise error.with_traceback(None)
