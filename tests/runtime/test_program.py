# SPDX-License-Identifier: Apache-2.0
"""A block that is a whole program ends, and looks, as under `python3 -I -c`."""
import errno
import os
import resource
import signal
import subprocess
import time

import pytest

from driver import ENV, LAST, PYTHON, VERSION, Driver, code_message


def plain(code, *args, flags=("-I",), stdin=b""):
    return subprocess.run([PYTHON, *flags, "-c", code, *args], env=ENV,
                          input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def same_output(run, code, *args, stdin=b""):
    want = plain(code, *args, stdin=stdin)
    got = run(code, *args, stdin=stdin)
    assert (got.out, got.status) == (want.stdout, want.returncode), got.err
    return got


def test_a_print_says_nothing_on_the_channel(run):
    r = run("print(1)")
    assert (r.out, r.err, r.status, r.messages) == (b"1\n", b"", 0, [])


@pytest.mark.parametrize("code", [
    "", "\n", "# nothing\n", "pass", "x = 1", "print('no newline', end='')",
    "\n\nprint(1)\n\n", "def f():\n    return 1\nprint(f())\n",
    "for i in range(3):\n    print(i)\nelse:\n    print('end')\n",
    "print('a'); print('b')", "if 1:\n  print(1)\n", "print(\n 1,\n)\n",
    "print('''\nfor x in y\n''')", "class A:\n  x = 1\n\nprint(A.x)",
    "print('\\\\')", "import os\nprint(os.sep)", "print('h\\u00e9')",
    "print(__name__, __doc__, '__file__' in globals())",
    "'doc'\nprint(__doc__)", "import sys\nprint(sys.argv)",
    "print(sorted(globals()))", "import sys\nprint(sys.path)",
    "import sys\nprint(sys.flags)", "import sys\nprint(sys.executable)",
    "import sys\nprint(sys.prefix, sys.exec_prefix, sys.base_prefix)",
    "import sys\nprint(sys.stdout.encoding, sys.stderr.line_buffering)",
    "print(exit, quit, license, help)", "print(__builtins__)",
    "import sys\nprint(sys.modules['__main__'].__dict__ is globals())",
    "print(__loader__, __spec__, __package__)",
    "import os\nprint(sorted(os.environ))", "print(input())",
    "import sys\nprint(sys.stdin.read())", "import sys\nprint(sys.getrecursionlimit())",
    "import subprocess\nprint(subprocess._args_from_interpreter_flags())",
    "import os, sys\nprint(os.open('/dev/null', 0))\n",
    "import warnings\nwarnings.simplefilter('error')\nprint(warnings.filters[0])",
    "import warnings\nprint(warnings.filters)",
    "import site\nprint(site.ENABLE_USER_SITE, site.getsitepackages())",
    "from __future__ import annotations\ndef f(a: b): pass\nprint(f.__annotations__)",
])
def test_output_and_status_are_those_of_python(run, code):
    same_output(run, code, stdin=b"one\ntwo\n")


def test_arguments_are_sys_argv(run):
    same_output(run, "import sys; print(sys.argv)", "a", "-b", "--", "c d")


@pytest.mark.parametrize("code", [
    "import sys; sys.exit()", "import sys; sys.exit(3)",
    "import sys; sys.exit(-1)", "import sys; sys.exit(256 + 7)",
    "import sys; sys.exit(2**80)", "import sys; sys.exit('why')",
    "import sys; sys.exit((1, 2))", "exit()", "quit(5)", "exit('bye')",
    "raise SystemExit", "raise SystemExit(True)", "import os; os._exit(9)",
    "import sys, atexit\natexit.register(print, 'bye')\nsys.exit(4)",
    "import sys, threading\n"
    "t = threading.Thread(target=lambda: sys.exit(3)); t.start(); t.join()\n"
    "print('on')",
    "import threading, time\n"
    "def f():\n  time.sleep(0.1); print('joined')\n"
    "threading.Thread(target=f).start()",
    "import threading, time\n"
    "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
    "import sys\nsys.stdout.close()", "import os\nos.close(1)\nprint(1)",
    "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
    "import sys\nsys.stdout = None\nprint(1)",
    "import sys\nsys.stdout = open('/dev/full', 'w')\nprint(1)",
    "import os\nif os.fork() == 0:\n  print('child')\nelse:\n  os.wait(); print('parent')",
    "import os\nif os.fork() == 0:\n  1/0\nelse:\n  print(os.wait()[1])",
    "import os, sys\nif os.fork() == 0:\n  sys.exit(3)\nelse:\n  print(os.wait()[1])",
    "import gc\nclass A:\n  def __del__(self): print('gone')\na = A()",
    "raise KeyboardInterrupt", "import sys\nsys.excepthook = lambda *a: print(a[0])\n1/0",
    "import sys\nclass E(BaseException): pass\nraise E",
    "def f(): yield 1\nf().throw(ValueError)",
    "import sys\nsys.exit(sys.flags.no_site)",
    "import signal, os\nsignal.signal(signal.SIGUSR1, lambda *a: print('sig'))\n"
    "os.kill(os.getpid(), signal.SIGUSR1)",
    "import asyncio\nasync def f():\n  await asyncio.sleep(0)\n  return 5\n"
    "print(asyncio.run(f()))",
    "from concurrent.futures import ThreadPoolExecutor\n"
    "print(list(ThreadPoolExecutor(2).map(abs, [-1, -2])))",
    "import multiprocessing as m\ndef f(x): return x * x\n"
    "with m.get_context('fork').Pool(2) as p: print(p.map(f, [1, 2, 3]))",
    "import multiprocessing as m, os\n"
    "p = m.get_context('spawn').Process(target=os.getpid); p.start(); p.join()\n"
    "print(p.exitcode)",
    "import pickle\nclass C: pass\nprint(type(pickle.loads(pickle.dumps(C()))) is C)",
    "import sys\nprint(sys.stdin.isatty())\nimport pydoc\nhelp(len)",
])
def test_a_program_ends_as_under_python(run, code):
    same_output(run, code)


def test_the_text_of_an_exit_is_on_stderr(run):
    assert run("import sys; sys.exit('why')").err == b"why\n"


def test_an_interrupted_program_dies_by_the_signal(home):
    with Driver(home) as d:
        d.send(code_message("print('up', flush=True)\nwhile True: pass"))
        d.read_until(d.process.stdout, b"up")
        d.process.send_signal(signal.SIGINT)
        d.finish()
    assert d.status == (1 if VERSION < (3, 8) else -signal.SIGINT)
    assert d.error.name == "KeyboardInterrupt"
    assert d.err.endswith(b"KeyboardInterrupt\n")


def test_an_interrupt_can_be_caught(home):
    with Driver(home) as d:
        d.send(code_message("try:\n  print('up', flush=True)\n  while True: pass\n"
                            "except KeyboardInterrupt: print('caught')"))
        out = d.read_until(d.process.stdout, b"up\n")
        d.process.send_signal(signal.SIGINT)
        d.finish()
    assert (out + d.out, d.status, d.messages) == (b"up\ncaught\n", 0, [])


def test_an_interrupt_before_the_code_ends_the_driver(home):
    with Driver(home) as d:
        while not os.path.exists("/proc/%d/fd/1000" % d.process.pid):
            time.sleep(0.001)  # until the driver is there
        d.process.send_signal(signal.SIGINT)
        d.finish()
    assert d.status != 0 and d.messages == []


def test_input_at_the_end_is_an_eof_error(run):
    r = run("print(input('? '))\ninput()", stdin=b"line\n")
    assert r.out == b"? line\n" and r.error.name == "EOFError"


def test_output_of_children_and_descriptors_keeps_its_order(run):
    r = run("import os, subprocess, sys\nprint('a', flush=True)\n"
            "subprocess.run(['echo', 'b'])\nos.system('echo c')\n"
            "os.write(1, b'd\\n')\nprint('e')")
    assert r.text == "a\nb\nc\nd\ne\n"


def test_bytes_are_exact(run):
    r = run("import sys\nsys.stdout.buffer.write(b'\\xff\\x00\\r\\n' * 1000)\n")
    assert r.out == b"\xff\x00\r\n" * 1000


def test_a_file_has_its_name_and_its_arguments(run):
    r = run("import sys\nprint(__file__, sys.argv)\n1/0", "x", name="dir/prog.py")
    assert r.text == "dir/prog.py ['dir/prog.py', 'x']\n"
    assert '  File "dir/prog.py", line 3, in <module>\n    1/0\n' in \
        r.error.traceback


def test_code_with_a_bom_crlf_or_a_coding_line_runs(run):
    assert run(b"\xef\xbb\xbfprint('bom')\r\nprint('crlf')\r\n").text == \
        "bom\ncrlf\n"
    assert run("# -*- coding: latin-1 -*-\nprint('é')\n'é'\n".encode(
        "latin-1")).results[0].text == "'é'"


def test_code_that_is_not_utf8_or_has_a_nul_is_an_error_of_the_program(run):
    for code in (b"print('\xff')", b"x = 1\x00", b"1\x00", b"\x00"):
        r = run(code)
        assert r.status == 1 and r.error.name in ("SyntaxError", "ValueError")


def test_large_code_runs(run):
    r = run("x = 1\n" * 300000 + "x + 1")
    assert r.results[0].text == "2" and r.status == 0


def test_deep_code_runs_or_fails_as_code(run):
    code = "+".join(["1"] * 3000)
    r = run(code)
    assert r.status in (0, 1) and (r.results or r.error)
    r = run("(" * 300 + ")" * 300)
    assert r.status == 1 and r.error.name in ("SyntaxError", "MemoryError")


def test_the_channel_is_out_of_sight(run):
    r = run("import os\nprint(sorted(os.listdir('/proc/self/fd')))\n"
            "import subprocess\n"
            "import sys; sys.stdout.flush()\n"
            "subprocess.run(['ls', '/proc/self/fd'], close_fds=False)")
    inside, _, child = r.text.partition("\n")
    assert inside == "['0', '1', '1000', '2', '3', '999']"
    assert child.split() == ["0", "1", "2", "3"]  # 3 is ls's own, as it was


def test_a_program_may_close_everything(run):
    r = run("import os\nos.closerange(3, 5000)\nprint('on')\ndisplay(1)\n1/0")
    assert (r.text, r.status, r.messages) == ("on\n1\n", 1, [])
    assert b"ZeroDivisionError" in r.err


def test_a_file_in_the_channels_place_is_not_written(run, tmp_path):
    path = tmp_path / "mine"
    r = run("import os\nos.closerange(3, 5000)\n"
            "os.dup2(os.open(%r, os.O_CREAT | os.O_RDWR), 1000)\n"
            "display(1)\n1/0" % str(path))
    assert r.status == 1 and path.read_bytes() == b""


def test_few_descriptors_are_enough(run):
    def limits():
        resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
    r = run("1 + 1", limits=limits)
    assert r.results[0].text == "2"


def test_the_use_of_all_descriptors_is_reported(run):
    r = run("l = []\nwhile True: l.append(open('/dev/null'))")
    assert r.error.errno == errno.EMFILE and r.status == 1


@pytest.mark.parametrize("code", [
    "json = 1\nsys = 2\n", "import json\njson.dumps = None\n",
    "import builtins\nfor n in ('len', 'print', 'isinstance', 'repr', 'str',"
    " 'type', 'compile', 'exec', 'eval', 'open', '__import__', 'getattr',"
    " 'BaseException', 'Exception', 'bytes', 'int', 'memoryview', 'any'):\n"
    "    delattr(builtins, n)\n",
    "del __builtins__\n", "import builtins\nvars(builtins).clear()\n",
    "import os, posix\nfor m in os, posix:\n  m.write = m.read = m.fstat = None\n",
    "import sys\ndel sys.stdout, sys.stderr, sys.stdin\n",
    "import sys\nsys.stdout = sys.stderr = 1\n",
    "import sys\nsys.excepthook = sys.__excepthook__ = None\n",
    "import sys\nsys.modules.clear()\n", "import sys\nsys.meta_path.clear()\n",
    "import sys\nsys.path[:] = []\n", "globals().clear()\n",
    "import sys\nsys.setrecursionlimit(50)\n",
    "import sys\nsys.settrace(lambda *a: None)\n",
    "import importlib._bootstrap_external as b\nb.SourceFileLoader = None\n",
    "import _thread\n_thread.get_ident = _thread.allocate_lock = None\n",
    "def display(*a): pass\n", "import os\nos.chdir('/proc')\n",
    "import gc\ngc.disable()\n", "import sys\nsys.flags = None\n",
])
def test_a_program_that_breaks_its_own_names_is_still_reported(run, code):
    r = run(code + "0x10 + 1")
    assert [one.text for one in r.results] == ["17"], r.err
    r = run(code + "1/0")
    # 120: the interpreter itself can't flush such a stdout
    assert r.status in (1, 120) and r.error.name == "ZeroDivisionError", r.err


def test_a_venv_is_used(run, tmp_path):
    venv = tmp_path / "venv"
    subprocess.run([PYTHON, "-I", "-m", "venv", "--without-pip", str(venv)],
                   check=True)
    packages, = (venv / "lib").glob("python3*/site-packages")
    (packages / "only_here.py").write_text("value = 7")
    (packages / "more.pth").write_text("%s\nimport sys; sys.pth_ran = 1\n"
                                       % tmp_path)
    code = ("import sys, only_here\nprint(only_here.value, sys.pth_ran)\n"
            "print(sys.path, sys.prefix, sys.base_prefix, sys.executable)")
    r = run(code, python=str(venv / "bin/python"))
    want = subprocess.run([str(venv / "bin/python"), "-I", "-c", code],
                          stdout=subprocess.PIPE, env=ENV, check=True).stdout
    assert r.out == want and r.err == b"" and str(tmp_path).encode() in want


def test_bad_messages_from_the_engine_end_the_driver(home):
    for data in (b"\x08\0\0\0\2\0\0\0" + bytes(8), b"\x07\0\0\0\1\0\0\0" + bytes(7),
                 b"\xff\xff\xff\xff\1\0\0\0", b"\x08\0\0"):
        with Driver(home) as d:
            d.send(data)
            d.ours.shutdown(1)
            d.finish()
        assert d.messages == [] and d.out == b""


def test_code_may_come_in_pieces(home):
    with Driver(home) as d:
        for byte in code_message("print('whole')"):
            d.send(bytes([byte]))
        assert d.finish().out == b"whole\n"


def test_code_of_16_mib_runs(home):
    with Driver(home) as d:
        d.send(code_message(b"print(2)\n#".ljust(16 << 20, b"x"), flags=LAST))
        assert d.finish().out == b"2\n"


def test_a_line_is_out_before_the_program_goes_on(home):
    with Driver(home) as driver:
        driver.send(code_message("import time\nprint('a')\ntime.sleep(60)"))
        assert driver.read_until(driver.process.stdout, b"\n") == b"a\n"


def test_what_was_printed_outlives_a_signal(run):
    for number in (signal.SIGSEGV, signal.SIGKILL):
        r = run(f"import os\nprint('a')\nos.kill(os.getpid(), {int(number)})")
        assert (r.out, r.status) == (b"a\n", -number)


def test_prints_are_in_order_with_os_write_and_children(run):
    r = run("import os, subprocess\nprint('a')\nos.write(1, b'b\\n')\n"
            "print('c')\nsubprocess.run(['/bin/echo', 'd'])\nprint('e')\n"
            "pid = os.fork()\nif pid: os.waitpid(pid, 0)\nelse: print('f')")
    assert r.text == "a\nb\nc\nd\ne\nf\n"


def test_a_program_without_stdout_runs(home):
    with Driver(home, limits=lambda: os.close(1)) as driver:
        driver.send(code_message("print(1)\nimport sys\n"
                                 "sys.stderr.write(repr(sys.stdout))"))
        driver.finish()
    assert (driver.err, driver.status) == (b"None", 0)
