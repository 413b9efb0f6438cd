# SPDX-License-Identifier: Apache-2.0
"""Uncaught exceptions: Python's text, the user's frames, an errno."""
import errno
import re
import resource
import subprocess

import pytest

from driver import ENV, PYTHON, VERSION


def as_a_file(tmp_path, code):
    """What the interpreter itself says of the same code in a file."""
    path = tmp_path / "prog.py"
    path.write_text(code)
    done = subprocess.run([PYTHON, "-I", str(path)], env=ENV,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    return done.stderr.decode().replace(str(path), "<code>")


PROGRAMS = {
    "one line": "1/0",
    "a name": "print(undefined_name)",
    "a near miss of a name": "prin(1)",
    "a name that site adds": "exi()",
    "in a function": "def f(x):\n    return 1 / x\n\nprint('x')\nf(0)\n",
    "a method": "class A:\n    def m(self):\n        raise KeyError('k')\nA().m()",
    "no arguments": "raise ValueError",
    "many lines": "raise ValueError('a\\nb\\n  File \"<code>\", line 1, in x')",
    "chained": "try:\n    1/0\nexcept Exception:\n    raise KeyError(1)",
    "caused": "try:\n    {}['a']\nexcept Exception as e:\n"
              "    raise OSError(28, 'full') from e",
    "suppressed": "try:\n    1/0\nexcept Exception:\n    raise KeyError(1) from None",
    "recursion": "def f():\n    return f()\nf()",
    "an index": "x = {'a': {}}\nprint(x['a']['b'])",
    "an operator": "a = 'x'\nb = 1\nprint((a) + b)",
    "long operators": "a = 2.0\nb = 'x'\nprint(a ** b)",
    "an attribute": "import os\nos.getcwdd()",
    "over lines": "def f(*a):\n    raise OSError\nf(\n    1,\n    2,\n)",
    "in the library": "import json\njson.loads('{')",
    "assert": "assert 1 == 2, 'no'",
    "a lambda": "f = lambda: 1/0\nf()",
    "a generator": "list(1/x for x in [0])",
    "tabs": "if 1:\n\traise ValueError('tab')",
    "not ascii": "é = 'é'\nprint('é' + é + 1)",
    "syntax": "x = 1\nif x\n    pass\n",
    "never closed": "x = foo(",
    "indent": "if 1:\npass",
    "dedent": "def f():\n        x\n    y\n",
    "a late syntax error": "x = 1\nreturn 5\n",
    "a string": "x = 'abc",
    "bad assign": "f() = 1",
    "exit text fails": "class E(Exception):\n"
                       "    def __str__(self): raise ValueError\nraise E()",
    "a class of its own": "class E(Exception): pass\nraise E('mine')",
    "exec": "exec('1/0')",
    "a walrus": "(x := 5)\nx.foo",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_is_the_interpreters(run, tmp_path, name):
    code = PROGRAMS[name]
    if name in ("never closed", "a walrus") and VERSION < (3, 10):
        pytest.skip("before 3.10 the place, or the syntax, is another")
    r = run(code)
    assert r.status == 1
    assert r.err.decode() == r.error.traceback
    depth = re.compile(r"repeated \d+ more times")  # ours starts lower
    assert depth.sub("", r.error.traceback) == \
        depth.sub("", as_a_file(tmp_path, code))


@pytest.mark.skipif(VERSION < (3, 11), reason="exception groups are of 3.11")
def test_a_group_of_exceptions_is_shown(run, tmp_path):
    code = ("def f(x):\n    return 1 / x\n"
            "l = []\nfor i in 0, 'a':\n    try:\n        f(i)\n"
            "    except Exception as e:\n        e.add_note('note')\n"
            "        l.append(e)\nraise ExceptionGroup('all', l)")
    r = run(code)
    assert r.error.traceback == as_a_file(tmp_path, code)


def test_an_error_has_its_name_value_and_number(run):
    e = run("open('/nonexistent')").error
    assert (e.name, e.errno) == ("FileNotFoundError", errno.ENOENT)
    assert e.value == "[Errno 2] No such file or directory: '/nonexistent'"
    e = run("import json\njson.loads('{')").error
    assert (e.name, e.errno) == ("json.decoder.JSONDecodeError", 0)
    e = run("class E(Exception): pass\nraise E('x')").error
    assert (e.name, e.value) == ("E", "x")


@pytest.mark.parametrize("code, want", [
    ("raise OSError(28, 'full')", errno.ENOSPC),
    ("raise OSError(122, 'quota')", errno.EDQUOT),
    ("raise OSError(27, 'big')", errno.EFBIG),
    ("raise BlockingIOError(11, 'again')", errno.EAGAIN),
    ("raise MemoryError", errno.ENOMEM), ("raise MemoryError('x')", errno.ENOMEM),
    ("raise RuntimeError(\"can't start new thread\")", errno.EAGAIN),
    ("raise RuntimeError('other')", 0), ("raise OSError('text')", 0),
    ("raise OSError(10**9, 'x')", 0), ("raise OSError(-5, 'x')", 0),
    ("raise OSError('a', 'b')", 0), ("raise ValueError", 0),
    ("with open('/dev/full', 'w') as f: f.write('x')", errno.ENOSPC),
    ("try:\n  open('/nonexistent')\nexcept OSError: raise KeyError", 0),
])
def test_the_number_is_the_errno(run, code, want):
    r = run(code)
    assert r.error.errno == want and r.status == 1


def test_no_memory_is_reported_with_little_memory(run):
    def limits():
        resource.setrlimit(resource.RLIMIT_AS, (150 << 20, 150 << 20))
    r = run("x = []\nwhile True:\n    x.append(bytearray(1 << 16))", limits=limits)
    assert r.error.errno == errno.ENOMEM and r.status == 1
    assert r.err.endswith(b"MemoryError\n")
    r = run("def f():\n  x = []\n  while True:\n    x.append(object())\nf()",
            limits=limits)
    assert r.error.errno == errno.ENOMEM and r.status == 1


def test_no_process_for_a_thread_is_eagain(run):
    r = run("import _thread, resource, threading\n"
            "def no(*a, **k): raise RuntimeError(\"can't start new thread\")\n"
            "threading._start_new_thread = no\n"
            "threading._start_joinable_thread = no\n"
            "threading.Thread(target=print).start()")
    assert r.error.errno == errno.EAGAIN


def test_a_hook_of_the_program_gets_the_users_frames_alone(run):
    r = run("import sys, traceback\n"
            "def hook(kind, value, tb):\n"
            "    print([f.name for f in traceback.extract_tb(tb)])\n"
            "sys.excepthook = hook\n"
            "def f(): 1/0\nf()")
    assert r.text == "['<module>', 'f']\n" and r.err == b"" and r.status == 1
    assert "ZeroDivisionError" in r.error.traceback


def test_a_hook_that_fails_is_told_with_the_original(run):
    r = run("import sys\nsys.excepthook = lambda *a: {}['k']\n1/0")
    assert b"Error in sys.excepthook:" in r.err and b"KeyError" in r.err
    assert b"Original exception was:" in r.err
    assert r.error.name == "ZeroDivisionError" and r.status == 1


def test_the_lines_are_visible_to_traceback_and_inspect(run):
    r = run("import traceback, inspect\n"
            "def f():\n    1 / 0\n"
            "try:\n    f()\n"
            "except Exception: traceback.print_exc()\n"
            "print(inspect.getsource(f))\n")
    assert b"    f()\n" in r.err and b"    1 / 0\n" in r.err
    assert r.text == "def f():\n    1 / 0\n\n"
    assert b"karzer" not in r.err


@pytest.mark.skipif(VERSION < (3, 8), reason="3.7 names the program instead")
def test_a_warning_shows_its_line(run):
    r = run("import warnings\nwarnings.warn('careful')\n")
    assert r.err == (b"<code>:2: UserWarning: careful\n"
                     b"  warnings.warn('careful')\n")


def test_a_syntax_warning_comes_once(run):
    for code in ("x = 1\nprint(x is 1)\n", "print(1 is 1)", "x = '\\d'\nx\n",
                 "assert (1, 'x')\nx = 1 is 1\ny = 2"):
        r = run("import warnings\nwarnings.simplefilter('always')\n" + code)
        assert r.err.count(b"Warning: ") <= code.count("is 1") + 1, r.err


def test_text_that_is_long_keeps_its_ends(run):
    r = run("raise ValueError('a' * 5000000 + 'END')")
    assert len(r.error.value) < 300000 and r.error.value.endswith("END")
    assert len(r.error.traceback) < 1100000
    assert len(r.err) > 5000000


def test_surrogates_and_nuls_are_told(run):
    e = run("raise ValueError('\\udc80\\x00')").error
    assert e.value == "\\udc80\x00"
    e = run("class \u00e9(Exception): pass\nraise \u00e9('\u00e9')").error
    assert (e.name, e.value) == ("\u00e9", "\u00e9")


def test_an_error_in_a_thread_is_no_error_of_the_program(run):
    r = run("import threading\n"
            "t = threading.Thread(target=lambda: 1/0); t.start(); t.join()")
    assert r.status == 0 and r.error is None
    assert b"ZeroDivisionError" in r.err and b"karzer" not in r.err


def test_frames_of_the_driver_are_nowhere(run):
    r = run("class A:\n"
            "    def __repr__(self):\n        raise KeyboardInterrupt('x')\n"
            "display(A())")
    assert r.error.name == "KeyboardInterrupt"
    assert re.findall('File "([^"]*)"', r.error.traceback) == ["<code>"] * 2


def test_a_failure_while_a_result_is_shown_leaves_the_channel_whole(run):
    r = run("class A:\n"
            "    def __repr__(self):\n        display(2)\n        return 'A'\n"
            "    def _repr_html_(self): 1/0\n"
            "A()")
    assert [one.text for one in r.results] == ["2", "A"]
    assert r.status == 0 and r.error is None
    assert b"ZeroDivisionError" in r.err
