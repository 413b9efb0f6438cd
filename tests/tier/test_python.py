"""The Python runtime: a block of code behaves as under `python3 -I`, and more."""
import base64
import os
import subprocess

import pytest

from karzer import brief, lack, seconds


def mimes(r):
    """[{mime: data}] of the displayed values."""
    return [{k: v for k, v in one.items()} for one in r.results]


def test_the_last_expression_is_displayed(box):
    r = box.run("a = 1\na + 1")
    assert len(r.results) == 1, r
    assert r.results[0]["text/plain"] == "2", r
    assert r.stdout == b""


def test_without_json_the_last_expression_is_printed(box):
    done = box.cli("run", "--tier", box.tier, "-c", "6 * 7")
    assert (done.returncode, done.stdout) == (0, b"42\n"), done


def test_none_is_not_displayed(box):
    assert box.run("None").results == []


def test_display_shows_many_values_in_order(box):
    r = box.run("for i in range(3): display(i)\n'last'")
    assert [one["text/plain"] for one in r.results] == ["0", "1", "2", "'last'"], r


RICH = """class Rich:
    def __repr__(self): return 'plain'
    def _repr_html_(self): return '<b>x</b>'
    def _repr_svg_(self): return '<svg/>'
    def _repr_latex_(self): return '$x$'
    def _repr_json_(self): return {'a': [1]}
    def _repr_markdown_(self): return '*x*'
    def _repr_png_(self): return bytes([137, 80, 78, 71, 0, 255])
Rich()
"""


def test_rich_representations_are_a_mime_bundle(box):
    r = box.run(RICH)
    one = r.results[0]
    assert one["text/plain"] == "plain"
    assert one["text/html"] == "<b>x</b>"
    assert one["image/svg+xml"] == "<svg/>"
    assert one["text/latex"] == "$x$"
    assert one["text/markdown"] == "*x*"
    assert one["application/json"] in ({"a": [1]}, '{"a": [1]}', '{"a":[1]}'), one
    assert base64.b64decode(one["image/png"]) == bytes([137, 80, 78, 71, 0, 255])


def test_a_matplotlib_figure_is_a_png(box):
    if not os.path.isdir("/usr/lib/python3/dist-packages/matplotlib"):
        lack("matplotlib", "python3-matplotlib is not installed")
    r = box.run("import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()\n",
                "--mem", "1G", "--wall", "120s", "--cpu-time", "100s", "--cpu", "2",
                "--disk", "128M")
    pngs = [one["image/png"] for one in r.results if "image/png" in one]
    assert len(pngs) == 1, r
    assert base64.b64decode(pngs[0])[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_representation_that_fails_does_not_end_the_program(box):
    r = box.run("class Bad:\n    def _repr_html_(self): 1 / 0\n"
                "    def __repr__(self): return 'still'\nBad()")
    assert r.status == "ok" and r.results[0]["text/plain"] == "still", r


def test_a_traceback_shows_only_the_users_frames(box):
    r = box.run("def f():\n    raise KeyError('k')\nf()\n")
    trace = r.error["traceback"]
    assert trace.count("  File ") == 2 and "/karzer/" not in trace, trace
    assert "line 3" in trace and "line 2" in trace and "in f" in trace
    assert "raise KeyError('k')" in trace
    assert r.error["name"] == "KeyError" and r.error["value"] == "'k'"


def test_a_person_sees_the_traceback_on_stderr(box):
    done = box.cli("run", "--tier", box.tier, "-c", "print('x')\n1 / 0")
    assert done.returncode == 1 and done.stdout == b"x\n"
    assert b"ZeroDivisionError: division by zero" in done.stderr, done


def test_a_syntax_error_points_at_its_line(box):
    r = box.run("x = 1\nif x\n    pass\n")
    assert (r.status, r.exit_code) == ("error", 1), r
    assert r.error["name"] == "SyntaxError" and "line 2" in r.error["traceback"]


def test_an_exception_whose_text_fails_is_still_told(box):
    r = box.run("class E(Exception):\n    def __str__(self): raise ValueError\nraise E()")
    assert r.status == "error" and r.error["name"] == "E", r


@pytest.mark.parametrize("code, want", [
    ("import sys; sys.exit()", 0), ("import sys; sys.exit(0)", 0),
    ("import sys; sys.exit(3)", 3), ("import sys; sys.exit(256 + 7)", 7),
    ("import sys; sys.exit('why')", 1), ("import os; os._exit(9)", 9),
    ("exit(4)", 4), ("quit(5)", 5), ("raise SystemExit(6)", 6),
    ("raise KeyboardInterrupt", None), ("import sys; sys.exit(None)", 0),
])
def test_exit_codes_are_pythons(box, code, want):
    r = box.run(code)
    if want is None:
        assert r.status == "error" and r.rc in (1, 130), r
        return
    assert r.rc == want and r.status == ("ok" if want == 0 else "error"), r


def test_the_text_of_sys_exit_goes_to_stderr(box):
    assert box.run("import sys; sys.exit('why')").stderr == b"why\n"


def test_input_reads_and_meets_its_end(box):
    r = box.run("print(input())\ninput()", stdin=b"line\n")
    assert r.stdout == b"line\n" and r.error["name"] == "EOFError", r


def test_output_of_child_processes_is_captured(box):
    r = box.run("import subprocess, os\nprint('a', flush=True)\n"
                "subprocess.run(['echo', 'b'])\nos.system('echo c')\nprint('d')")
    assert r.text == "a\nb\nc\nd\n", r


def test_bytes_of_stdout_are_exact(box):
    r = box.run("import sys\nsys.stdout.buffer.write(b'\\xff\\x00\\r\\n')")
    assert r.stdout == b"\xff\x00\r\n", r


def test_surrogates_in_code_and_output_do_not_end_the_driver(box):
    r = box.run("'\\udc80'")
    assert r.status in ("ok", "error"), r
    r = box.run("print('\\udc80')")  # C.UTF-8: surrogateescape, as on the host
    assert r.stdout == b"\x80\n", r
    r = box.run("print('\\ud800')")
    assert r.status == "error" and r.error["name"] == "UnicodeEncodeError", r


def test_names_stay_those_of_a_main_program(box):
    r = box.run("print(__name__, __builtins__.__name__, '__file__' in globals())\n"
                "import sys; print(sys.argv[1:], sys.modules['__main__'].__dict__ is globals())",
                args=["x"])
    assert r.text.startswith("__main__ builtins") and "['x'] True" in r.text, r


def test_pickle_and_multiprocessing_find_the_programs_names(box):
    r = box.run("import pickle\nclass C: pass\nprint(type(pickle.loads(pickle.dumps(C()))).__name__)")
    assert r.text == "C\n", r


def test_the_interpreter_is_isolated_and_whole(box):
    """As under python3 -I: site, dist-packages, exit and help are there."""
    r = box.run("import sys, site\nprint(sys.flags.isolated, callable(exit), callable(help),"
                " any('dist-packages' in p for p in sys.path), '' in sys.path)")
    host = subprocess.run(
        ["/usr/bin/python3", "-I", "-c",
         "import sys, site\nprint(sys.flags.isolated, callable(exit), callable(help),"
         " any('dist-packages' in p for p in sys.path), '' in sys.path)"],
        capture_output=True, text=True, check=True).stdout
    assert r.text == host, r


def test_help_prints(box):
    r = box.run("help(len)")
    assert "len(obj, /)" in r.text, r


def test_warnings_threads_and_atexit_work(box):
    r = box.run("import atexit, threading, warnings\natexit.register(print, 'bye')\n"
                "threading.Thread(target=lambda: print('thread')).start()\n"
                "warnings.warn('careful')\n")
    assert r.text.splitlines()[-1] == "bye" and "thread" in r.text, r
    assert b"careful" in r.stderr


def test_async_code_runs(box):
    r = box.run("import asyncio\nasync def f(): await asyncio.sleep(0); return 5\n"
                "print(asyncio.run(f()))")
    assert r.text == "5\n", r


def test_a_file_is_named_in_its_traceback(box):
    path = box.dir / "prog.py"
    path.write_text("import sys\nprint(sys.argv)\n1 / 0\n")
    box.user.own(path)
    done = box.cli("run", "--tier", box.tier, "-f", str(path), "--", "a")
    assert done.returncode == 1 and b"prog.py" in done.stderr, done
    assert b"'a'" in done.stdout


def test_code_from_stdin_runs(box):
    done = box.cli("run", "--tier", box.tier, "-", stdin=b"print('in')\n")
    assert (done.returncode, done.stdout) == (0, b"in\n"), done


def test_code_with_a_coding_line_bom_or_crlf_runs(box):
    path = box.dir / "bom.py"
    path.write_bytes(b"\xef\xbb\xbfprint('bom')\r\nprint('crlf')\r\n")
    box.user.own(path)
    done = box.cli("run", "--tier", box.tier, "-f", str(path))
    assert done.stdout == b"bom\ncrlf\n", done


def test_code_that_forges_the_runtime_channel_gains_nothing(box):
    """A flood of garbage at descriptor 3 gives a status, and costs nothing."""
    r = box.run("import os\n"
                "for fd in range(3, 20):\n"
                "    try:\n"
                "        for i in range(200): os.write(fd, os.urandom(4096))\n"
                "    except OSError: pass\n", "--wall", "10s")
    assert r.status in ("ok", "error", "internal"), r
    assert box.run("1").status == "ok"


def test_a_venv_is_made_visible(box):
    venv = box.user.work() / "venv"
    subprocess.run([*box.user.prefix, "/usr/bin/python3", "-m", "venv",
                    "--without-pip", str(venv)], check=True)
    lib = next((venv / "lib").glob("python3*")) / "site-packages"
    module = lib / "only_in_venv.py"
    module.write_text("value = 'from the venv'\n")
    (venv.parent / "beside").write_text("SECRET")
    r = box.run("import sys, only_in_venv, os\nprint(only_in_venv.value)\n"
                f"print(sys.prefix != sys.base_prefix, os.path.exists({str(venv.parent / 'beside')!r}))\n"
                f"print(os.access({str(venv)!r}, os.W_OK))",
                "--python", str(venv))
    assert r.text == "from the venv\nTrue False\nFalse\n", r


def test_what_was_printed_before_a_timeout_is_kept(box):
    r = box.run("print('a'); import time; time.sleep(60)", "--wall", brief(1))
    assert (r.status, r.stdout) == ("timeout", b"a\n"), r


def test_what_was_printed_before_a_crash_is_kept(box):
    r = box.run("import os; print('a'); os.kill(os.getpid(), 11)")
    assert (r.status, r.signal, r.stdout) == ("error", 11, b"a\n"), r


def test_many_small_prints_are_not_slow(box):
    r = box.run("for i in range(300000): print(i)", "--output", "4M",
                "--wall", seconds(30))
    assert r.status == "ok", r
    assert len(r.stdout.splitlines()) == 300000
