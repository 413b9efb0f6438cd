# SPDX-License-Identifier: Apache-2.0
"""Several blocks in one namespace, one after the other."""
import os
import signal
import time

import pytest

from driver import Done, Error, Result, code_message


def kinds(messages):
    return [type(m).__name__ for m in messages]


def test_names_live_from_block_to_block(session):
    assert kinds(session.block("x = 20")) == ["Done"]
    value, done = session.block("x + 1")
    assert (value.text, value.value, done.status) == ("21", True, 0)


def test_an_error_ends_the_block_alone(session):
    error, done = session.block("y = 1\n1/0\ny = 2")
    assert (error.name, done.status) == ("ZeroDivisionError", 1)
    assert session.block("y")[0].text == "1"


def test_a_traceback_goes_through_all_blocks(session):
    session.block("def f():\n    return 1/0\n")
    session.block("def g():\n    return f()\n")
    error, _ = session.block("g()")
    files = [line.split('"')[1] for line in error.traceback.splitlines()
             if line.startswith("  File")]
    assert files == ["<code 3>", "<code 2>", "<code>"]
    for line in ("    g()\n", "    return f()\n", "    return 1/0\n"):
        assert line in error.traceback


def test_linecache_knows_the_blocks_before_and_after_its_import(session):
    session.block("def f():\n    return 1/0  # one\n")
    session.block("import traceback, inspect\n")
    session.block("def g():\n    return f()  # two\n")
    value, _ = session.block(
        "try: g()\nexcept Exception: t = traceback.format_exc()\nt")
    assert "# one" in value.text and "# two" in value.text
    assert "# two" in session.block("inspect.getsource(g)")[0].text


def test_exit_ends_the_block_with_its_status(session):
    for code, status in (("import sys; sys.exit(3)", 3), ("exit()", 0),
                         ("sys.exit('why')", 1), ("sys.exit(-2)", -2),
                         ("sys.exit(2**40)", -1), ("quit(7)", 7)):
        done, = session.block(code)
        assert done.status == status
    value, done = session.block("sys.stdin.read()")
    assert (value.text, done.status) == ("''", 0)


def test_the_last_block_ends_as_a_program(session):
    session.block("import atexit\nx = 5\natexit.register(print, 'bye')")
    session.send(code_message("import sys\nprint(x)\nsys.exit(6)"))
    session.finish()
    assert (session.out, session.status, session.messages) == (
        b"5\nbye\n", 6, [])


def test_the_end_of_the_channel_ends_the_driver_as_a_program(session):
    session.block("import atexit\natexit.register(print, 'bye')")
    session.ours.shutdown(1)
    session.finish()
    assert (session.out, session.status) == (b"bye\n", 0)


def test_an_interrupt_ends_the_block_that_runs(session):
    session.block("x = 1")
    session.send(code_message("print('up', flush=True)\nwhile True: pass",
                              flags=0))
    session.read_until(session.process.stdout, b"up")
    session.process.send_signal(signal.SIGINT)
    error, done = session.message(), session.message()
    assert (error.name, done.status) == ("KeyboardInterrupt", 1)
    assert session.block("x")[0].text == "1"


def test_an_interrupt_between_blocks_is_ignored(session):
    session.block("x = 1")
    for _ in range(20):
        session.process.send_signal(signal.SIGINT)
        time.sleep(0.005)
    assert session.block("x")[0].text == "1"


def test_handlers_run_between_blocks_and_may_raise(session):
    session.block("import signal, os\n"
                  "def h(*a): os.write(1, b'handled\\n'); raise KeyError\n"
                  "signal.signal(signal.SIGUSR1, h)")
    session.process.send_signal(signal.SIGUSR1)
    session.read_until(session.process.stdout, b"handled")
    assert session.block("5")[0].text == "5"


def test_threads_live_on_between_blocks(session):
    session.block("import threading, time\nn = 0\n"
                  "def f():\n    global n\n    while n < 5: n += 1; time.sleep(.01)\n"
                  "t = threading.Thread(target=f); t.start()")
    assert session.block("t.join()\nn")[0].text == "5"


def test_a_forked_child_is_no_driver(session):
    session.block("import os")
    assert kinds(session.block("pid = os.fork()\nif pid == 0: x = 1")) == ["Done"]
    value, _ = session.block("os.waitpid(pid, 0)[1]")
    assert value.text == "0"


def test_future_imports_hold_for_the_blocks_that_follow(session):
    session.block("from __future__ import annotations")
    session.block("def f(a: undefined): pass")
    assert session.block("f.__annotations__")[0].text == "{'a': 'undefined'}"


@pytest.mark.parametrize("code", [
    "del __builtins__", "import builtins\nbuiltins.print = None",
    "globals().clear()", "import sys\nsys.modules.clear()",
    "import sys\nsys.stdout.close()", "import builtins\nvars(builtins).clear()",
    "import os\nos.read = os.write = None",
])
def test_a_broken_namespace_does_not_break_the_session(session, code):
    session.block(code)
    assert session.block("7")[0].text == "7"


def test_del_builtins_is_mended_for_the_next_block(session):
    session.block("del __builtins__")
    assert session.block("__builtins__.__name__")[0].text == "'builtins'"


def test_a_file_may_be_a_block(session):
    session.block("x = 1")
    value, _ = session.block("__file__", name="dir/two.py")
    assert value.text == "'dir/two.py'"
    value, _ = session.block("'__file__' in globals()")
    assert value.text == "False"


def test_output_comes_before_the_end_of_the_block(session):
    session.block("print('a')\nimport os\nos.write(2, b'b')")
    assert os.read(session.process.stdout.fileno(), 10) == b"a\n"
    assert os.read(session.process.stderr.fileno(), 10) == b"b"


def test_many_blocks_leave_nothing_behind(session):
    first, _ = session.block("import gc, os\nlen(os.listdir('/proc/self/fd'))")
    for i in range(200):
        session.block("x%d = %d" % (i % 5, i))
    last, _ = session.block("len(os.listdir('/proc/self/fd'))")
    assert first.text == last.text


def test_types_are_told_apart(session):
    found = session.block("display(1)\n2/0")
    assert [type(m) for m in found] == [Result, Error, Done]
