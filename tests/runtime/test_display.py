# SPDX-License-Identifier: Apache-2.0
"""What is displayed: the last value, display(), mime bundles, figures."""
import json
import subprocess
import zlib

import pytest

from driver import ENV, PYTHON, VERSION, Driver, code_message

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("code, want", [
    ("1 + 1", "2"), ("x = 5\nx", "5"), ("x = 5; x", "5"), ("x = 5\n\nx\n\n", "5"),
    ("'text'", "'text'"), ("[1,\n 2]", "[1, 2]"), ("dict(\n    a=1,\n)", "{'a': 1}"),
    ("'''\nfor x\n'''", "'\\nfor x\\n'"), ("def f(): return 3\nf()", "3"),
    ("if 1:\n    x = 2\nx # the end\n# more\n", "2"), ("a = 1\n*[a], 2", "(1, 2)"),
    ("(yes := 4)", "4"), ("x = \\\n 3\nx \\\n + 1", "4"), ("x = 1\n-x", "-1"),
    ("s = '''\n'''  # '''\ns", "'\\n'"), ("'a' 'b'\n'c'", "'c'"),
    ("lambda: 0", None), ("[\nfor_x\nfor for_x in [1]\n]", "[1]"),
    ("import os\nos.sep", "'/'"), ("x = '''a\nb''' + '''c\nd'''\nx", "'a\\nbc\\nd'"),
    ("from __future__ import annotations\n1", "1"), ("1;", "1"),
    ("f'{1}'", "'1'"), ("print", "<built-in function print>"),
    ("async def f(): pass\n7", "7"), ("x = 1\nx if x else 0", "1"),
    ("@staticmethod\ndef f(): pass\n9", "9"), ("0xfe", "254"),
])
def test_the_last_expression_is_the_value(run, code, want):
    if ":=" in code and VERSION < (3, 8):
        pytest.skip("no such syntax before 3.8")
    r = run(code)
    assert r.status == 0, r.err
    one, = r.results
    assert one.value and (want is None or one.text == want)


@pytest.mark.parametrize("code", [
    "None", "print(1)", "x = 1", "for i in range(3): i", "if 1:\n    5",
    "def f():\n    5", "import os", "1 if 0 else None", "del [][:]", "pass",
    "x = [\n1,\n2,\n]", "try:\n    5\nexcept KeyError:\n    6\nelse:\n    7",
    "x = '''\n5'''", "with open('/dev/null') as f:\n    5", "x: int = 5",
    "class A:\n    5\n", "assert 1", "x = 5 ;", "x = 1\nif x:\n    2\nelse:\n    3",
])
def test_a_block_without_a_value_displays_nothing(run, code):
    r = run(code)
    assert r.messages == [] and r.status == 0


def test_display_shows_all_that_it_is_given(run):
    r = run("display(1, 'a')\nfor i in range(2): display(i)\n'last'")
    assert [(one.text, one.value) for one in r.results] == [
        ("1", False), ("'a'", False), ("0", False), ("1", False),
        ("'last'", True)]


RICH = """class Rich:
    def __repr__(self): return 'plain'
    def _repr_html_(self): return '<b>\\u00e9</b>'
    def _repr_svg_(self): return '<svg/>'
    def _repr_latex_(self): return '$x$'
    def _repr_json_(self): return {'a': [1]}
    def _repr_markdown_(self): return '*x*'
    def _repr_javascript_(self): return 'x()'
    def _repr_png_(self): return bytes([137, 80, 78, 71, 0, 255]), {'width': 1}
    def _repr_jpeg_(self): return '/9j/'
    def _repr_pdf_(self): return None
"""


def test_rich_representations_are_one_bundle(run):
    one, = run(RICH + "Rich()").results
    assert json.loads(one.bundle.pop("application/json")) == {"a": [1]}
    assert one.bundle == {
        "text/plain": b"plain", "text/html": "<b>é</b>".encode(),
        "image/svg+xml": b"<svg/>", "text/latex": b"$x$",
        "text/markdown": b"*x*", "application/javascript": b"x()",
        "image/png": bytes([137, 80, 78, 71, 0, 255]),
        "image/jpeg": b"\xff\xd8\xff"}


def test_a_mimebundle_counts_and_the_methods_add_to_it(run):
    one, = run("class A:\n"
               "    def __repr__(self): return 'A'\n"
               "    def _repr_mimebundle_(self, include=None, exclude=None):\n"
               "        return {'text/html': 'bundle', 'image/png': 'iVBORw==',\n"
               "                'application/vnd.vega.v5+json': {'k': None},\n"
               "                'bad type': '1', 'x': '2', 5: '3', 'a/b/c': '4'}, {}\n"
               "    def _repr_html_(self): return 'method'\n"
               "    def _repr_latex_(self): return 'L'\n"
               "A()").results
    assert one.bundle == {
        "text/plain": b"A", "text/html": b"bundle", "image/png": b"\x89PNG",
        "application/vnd.vega.v5+json": b'{"k": null}', "text/latex": b"L"}


def test_a_class_and_an_object_with_every_attribute_are_plain(run):
    assert set(run(RICH + "Rich").results[0].bundle) == {"text/plain"}
    r = run("from unittest.mock import MagicMock\n"
            "class Any:\n    def __getattr__(self, name): return lambda: name\n"
            "display(Any())\nMagicMock()")
    assert [set(one.bundle) for one in r.results] == [{"text/plain"}] * 2


def test_methods_that_fail_are_told_and_the_rest_is_shown(run):
    r = run("class Bad:\n"
            "    def __repr__(self): raise ValueError('no')\n"
            "    def _repr_html_(self): 1/0\n"
            "    def _repr_json_(self): return {1, 2}\n"
            "    def _repr_png_(self): return 'not base64!!='\n"
            "    def _repr_latex_(self): return 'fine'\n"
            "Bad()\n")
    one, = r.results
    assert one.bundle["text/plain"] == \
        b"<Bad object: repr() raised ValueError: no>"
    assert one.bundle["text/latex"] == b"fine"
    assert "text/html" not in one.bundle
    assert b"1/0" in r.err and r.status == 0


def test_text_is_bounded(run):
    one, = run("'x' * 3000000").results
    assert len(one.text) < 1100000
    assert one.text.endswith("more characters)")
    one, = run("10 ** 6000").results
    assert one.text.startswith(("<int object: repr() raised ValueError", "1000"))
    one, = run("class R:\n    def __repr__(self): return repr(self)\nR()").results
    assert "RecursionError" in one.text


def test_what_is_too_large_is_left_out_and_told(run):
    r = run("class A:\n"
            "    def __repr__(self): return 'A'\n"
            "    def _repr_png_(self): return bytes(17 << 20)\n"
            "    def _repr_jpeg_(self): return bytes(15 << 20)\n"
            "    def _repr_pdf_(self): return bytes(2 << 20)\n"
            "A()")
    assert set(r.results[0].bundle) == {"text/plain", "image/jpeg"}
    assert b"image/png of 17825792 bytes" in r.err


def test_more_types_than_a_message_holds_are_left_out(run):
    r = run("class A:\n"
            "    def _repr_mimebundle_(self):\n"
            "        return {'x/%d' % i: str(i) for i in range(100)}\nA()")
    assert len(r.results[0].bundle) == 32


def test_surrogates_are_escaped(run):
    assert run("'\\udc80'").results[0].text == "'\\udc80'"
    one, = run("class A:\n    def __repr__(self): return '\\udc80'\n"
               "    def _repr_html_(self): return '\\ud800'\nA()").results
    assert one.bundle == {"text/plain": b"\\udc80", "text/html": b"\\ud800"}


def test_output_is_flushed_before_a_result(home):
    with Driver(home, stdin=-1) as d:
        d.send(code_message("print('before')\ndisplay(1)\ninput()"))
        assert d.message().text == "1"
        assert d.read_until(d.process.stdout, b"before") == b"before\n"
        d.finish(b"\n")


def test_threads_may_display(run):
    r = run("from threading import Thread\n"
            "t = [Thread(target=lambda: [display('x' * 100000) for i in range(20)])"
            " for i in range(8)]\n"
            "for one in t: one.start()\n"
            "for one in t: one.join()\n")
    assert len(r.results) == 160


def test_signals_do_not_cut_messages(run):
    r = run("import signal\n"
            "n, on = 0, True\n"
            "def tick(*a):\n"
            "    global n\n"
            "    n += 1\n"
            "    display(n)\n"
            "    if on: signal.setitimer(signal.ITIMER_REAL, 0.0003)\n"
            "signal.signal(signal.SIGALRM, tick)\n"
            "tick()\n"
            "for i in range(200): display('x' * 50000)\n"
            "on = False\n"
            "signal.setitimer(signal.ITIMER_REAL, 0)\n"
            "n = 0\n")
    assert r.status == 0 and len(r.results) > 210, r.err


def test_a_forked_child_displays_as_text(run):
    r = run("import os\n"
            "if os.fork() == 0:\n    display([1])\n    os._exit(0)\n"
            "os.wait()\ndisplay(2)")
    assert [one.text for one in r.results] == ["2"]


FAKE = """import sys, types
plt = types.ModuleType('matplotlib.pyplot')
figure_module = types.ModuleType('matplotlib.figure')
class Figure:
    def savefig(self, out, format, **_):
        assert format == 'png'
        out.write(b'\\x89PNG' + self.label.encode())
Figure.__module__ = 'matplotlib.figure'
figures = {}
def figure(number):
    if number not in figures:
        figures[number] = Figure()
        figures[number].label = str(number)
    return figures[number]
def close(f):
    for n in [n for n in figures if figures[n] is f]: del figures[n]
plt.figure, plt.close = figure, close
plt.get_fignums = lambda: sorted(figures)
sys.modules['matplotlib.pyplot'] = plt
"""


def test_open_figures_are_shown_once_and_closed(run):
    r = run(FAKE + "figure(1); figure(2); display(figure(2)); figure(1)")
    assert [one.bundle.get("image/png") for one in r.results] == [
        b"\x89PNG2", b"\x89PNG1"]
    r = run(FAKE + "figure(3)\nx = 1")
    assert [(one.bundle["image/png"], one.value) for one in r.results] == [
        (b"\x89PNG3", False)]


def test_figures_are_shown_after_an_error(run):
    r = run(FAKE + "figure(1)\n1/0")
    assert [type(m).__name__ for m in r.messages] == ["Result", "Error"]


def has(module):
    return subprocess.run([PYTHON, "-I", "-c", "import " + module], env=ENV,
                          stderr=subprocess.DEVNULL).returncode == 0


def test_matplotlib_figures_are_pngs(run):
    if not has("matplotlib"):
        pytest.skip("matplotlib is not installed")
    r = run("import matplotlib.pyplot as plt\n"
            "plt.plot([1, 2, 3])\nplt.show()\nprint(plt.get_fignums())\n"
            "import os; print(os.environ['MPLBACKEND'])\n"
            "plt.plot([3, 2, 1])\nfig, ax = plt.subplots()\nfig")
    assert r.text == "[]\nAgg\n", r.err
    pngs = [one.bundle["image/png"] for one in r.results]
    assert len(pngs) == 3 and all(p.startswith(PNG) for p in pngs)
    for png in pngs:
        size = int.from_bytes(png[8:12], "big")
        assert zlib.crc32(png[12:16 + size]) == \
            int.from_bytes(png[16 + size:20 + size], "big")


def test_a_backend_that_was_asked_for_is_kept(run):
    if not has("matplotlib"):
        pytest.skip("matplotlib is not installed")
    r = run("import matplotlib\nprint(matplotlib.get_backend())",
            env=dict(ENV, MPLBACKEND="svg"))
    assert r.text == "svg\n"


def test_arrays_and_frames_have_their_text_and_html(run):
    if not has("numpy"):
        pytest.skip("numpy is not installed")
    assert run("import numpy as np\nnp.arange(3)").results[0].text == \
        "array([0, 1, 2])"
    if has("pandas"):
        one, = run("import pandas as pd\npd.DataFrame({'a': [1]})").results
        assert b"<table" in one.bundle["text/html"]
