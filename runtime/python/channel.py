# SPDX-License-Identifier: Apache-2.0
"""channel - writes messages to the engine. Loaded at the first message.

A message is written whole or, when the channel is gone, not at all: other
threads wait, signals wait, and what is sent from within (a signal handler, a
__repr__) is queued and follows.
"""
SIGNALS = tuple(range(1, 32))
BLOCK, SETMASK = 0, 2
sigmask, write = driver.sigmask, driver.write


def drain():
    while driver.queue:
        with driver.lock:
            old = sigmask(BLOCK, ())
            try:
                sigmask(BLOCK, SIGNALS)
                while driver.queue:
                    put(driver.queue.pop(0))
            finally:
                sigmask(SETMASK, old)


def put(message):
    if not driver.connected():
        return
    view = memoryview(message)
    while view:
        try:
            view = view[write(driver.channel, view):]
        except OSError:
            return  # the engine is gone
