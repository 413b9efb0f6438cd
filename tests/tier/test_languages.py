"""The languages of `karzer run`: the same contract in each, in every tier.

tests/runtime has what a driver does by itself; here it is in a cell.
"""
import base64
import os

import pytest

from karzer import brief, lack

LANGUAGES = ("python", "node", "bash")
# One row a claim: the code in each language.
ECHO = {"python": "import sys\nprint(sys.stdin.read(), *sys.argv[1:])",
        "node": "console.log(require('fs').readFileSync(0, 'utf8'), ...process.argv.slice(2))",
        "bash": 'echo "$(cat)" "$@"'}
EXIT = {"python": "import sys\nprint('a')\nsys.exit(7)",
        "node": "console.log('a')\nprocess.exit(7)", "bash": "echo a\nexit 7"}
SYNTAX = {"python": "if x\n", "node": "if x\n", "bash": "if x ]; fi\n"}
SLEEP = {"python": "import time\nprint('a')\ntime.sleep(60)",
         "node": "console.log('a')\nsetTimeout(() => {}, 60000)\nundefined",
         "bash": "echo a\nsleep 60"}
HOG = {"python": "x = []\nwhile True: x.append(bytearray(1 << 20))",
       "node": "const a = []\nfor (;;) a.push(new Array(1000).fill(Math.random()))",
       "bash": "x=$(printf '%1048576s' x)\nwhile :; do x+=$x; done"}
LEFT = {"python": "import subprocess\nsubprocess.Popen(['sleep', '60'])\nprint('a')",
        "node": "const c = require('child_process').spawn('sleep', ['60'],"
                " { detached: true, stdio: 'inherit' })\nc.unref()\nconsole.log('a')",
        "bash": "sleep 60 &\n(setsid sleep 60 &)\necho a"}
FILL = {"python": "with open('f', 'wb') as f:\n    while True: f.write(bytes(1 << 20))",
        "node": "const fd = require('fs').openSync('f', 'w')\n"
                "for (;;) require('fs').writeSync(fd, Buffer.alloc(1 << 20))",
        "bash": "head -c 100M /dev/zero > f"}
BYTES = {"python": "import os\nos.write(1, bytes([255, 0, 13, 10]))\nNone",
         "node": "require('fs').writeSync(1, Buffer.from([255, 0, 13, 10]))\nundefined",
         "bash": r"printf '\xff\x00\r\n'"}
FORGE = {"python": "import os\nfor fd in range(3, 20):\n    try:\n"
                   "        for i in range(50): os.write(fd, os.urandom(4096))\n"
                   "    except OSError: pass\n",
         "node": "for (let i = 0; i < 50; i++)"
                 " require('fs').writeSync(3, require('crypto').randomBytes(4096))",
         "bash": "for fd in 3 4 5 200 255; do head -c 99999 /dev/urandom >&$fd; done 2>/dev/null"}


@pytest.fixture(params=LANGUAGES)
def lang(request):
    program = {"python": "python3"}.get(request.param, request.param)
    if not os.path.exists(f"/usr/bin/{program}"):
        lack(request.param, f"/usr/bin/{program} is not installed")
    return request.param


@pytest.fixture
def node():
    if not os.path.exists("/usr/bin/node"):
        lack("node", "/usr/bin/node is not installed")


def run(box, lang, code, *options, **more):
    return box.run(code, "--lang", lang, *options, **more)


def test_stdin_and_arguments_reach_the_program(box, lang):
    r = run(box, lang, ECHO[lang], args=["x", "-y", "é"], stdin=b"in")
    assert (r.status, r.text) == ("ok", "in x -y é\n"), r


def test_an_exit_status_is_an_error_with_it(box, lang):
    r = run(box, lang, EXIT[lang])
    assert (r.status, r.exit_code, r.rc, r.stdout, r.error) == \
        ("error", 7, 7, b"a\n", None), r


def test_a_syntax_error_is_an_error_of_the_program(box, lang):
    r = run(box, lang, SYNTAX[lang])
    assert r.status == "error" and b"yntax" in r.stderr, r
    assert b"karzer" not in r.stderr


def test_bytes_are_exact(box, lang):
    assert run(box, lang, BYTES[lang]).stdout == b"\xff\x00\r\n"


def test_what_was_printed_before_a_timeout_is_kept(box, lang):
    r = run(box, lang, SLEEP[lang], "--wall", brief(1.5))
    assert (r.status, r.stdout) == ("timeout", b"a\n"), r


def test_memory_without_end_is_memory(box, lang):
    r = run(box, lang, HOG[lang], "--mem", "128M", "--wall", "60s", "--cpu-time", "60s")
    if lang == "bash" and r.status == "error":  # it says so itself, and ends with 2
        assert not box.user.root and b"cannot allocate" in r.stderr, r
        return
    assert r.status == "memory" and r.rc == 137, r
    assert "mem" in r.limits_hit()


def test_a_full_disk_is_disk(box, lang):
    r = run(box, lang, FILL[lang], "--disk", "8M")
    assert r.status == "disk", r


def test_what_it_left_running_ends_with_it(box, lang):
    r = run(box, lang, LEFT[lang])
    assert (r.status, r.stdout) == ("ok", b"a\n"), r
    assert r.usage["wall_ms"] < 30000


def test_the_recorded_grant_names_the_language(box, lang):
    r = run(box, lang, "\n")
    granted, = [one for one in box.log("--run", r.id) if one["kind"] == "run.granted"]
    assert granted["lang"] == lang


def test_a_forged_channel_gains_nothing(box, lang):
    r = run(box, lang, FORGE[lang], "--wall", "20s")
    assert r.status in ("ok", "error", "internal"), r
    assert run(box, lang, "\n").status == "ok"


# the choice

@pytest.mark.parametrize("name, code, want", [
    ("a.py", "print('python')", b"python\n"), ("a.js", "console.log('node')", b"node\n"),
    ("a.mjs", "import fs from 'fs'; console.log(typeof fs)", b"object\n"),
    ("a.cjs", "console.log(typeof module)", b"object\n"),
    ("a.sh", "echo $((1+1))", b"2\n"), ("a", "print('none')", b"none\n"),
    ("b", "#!/bin/bash\necho $0 | grep -c b", b"1\n"),
    ("c.py", "#!/usr/bin/env node\nconsole.log('line')", b"line\n"),
    ("d", "#!/usr/bin/python3 -u\nprint('py')", b"py\n"),
])
@pytest.mark.tiers("container")
def test_a_line_or_a_suffix_chooses(box, node, name, code, want):
    path = box.dir / name
    path.write_text(code)
    box.user.own(path)
    done = box.cli("run", str(path))
    assert (done.returncode, done.stdout) == (0, want), done


@pytest.mark.tiers("container")
def test_lang_wins(box):
    path = box.dir / "x.py"
    path.write_text("#!/usr/bin/ruby\necho $((40 + 2))\n")
    box.user.own(path)
    done = box.cli("run", "--lang", "bash", str(path))
    assert (done.returncode, done.stdout) == (0, b"42\n"), done
    done = box.cli("run", "--lang", "bash", "-", stdin=b"echo in")
    assert (done.returncode, done.stdout) == (0, b"in\n"), done


@pytest.mark.tiers("container")
@pytest.mark.parametrize("args, said", [
    (("--lang", "perl", "x"), b'karzer: --lang: "perl" is not known; known: python, node, bash\n'),
    (("#!/usr/bin/ruby\nputs 1",), b'"#!/usr/bin/ruby" is not known'),
    (("--lang", "bash", "-"), b"NUL byte (at 4)"),
    (("nosuch.mjs",), b"nosuch.mjs: no such file"),
    (("--lang", "node", "--interpreter", "/etc", "x"), b"no bin/node in this directory"),
])
def test_a_wrong_choice_is_one_clear_line(box, args, said):
    done = box.cli("run", *args, stdin=b"echo\0")
    assert done.returncode in (2, 125) and said in done.stderr, done
    assert done.stderr.count(b"\n") == 1 and done.stdout == b"", done


@pytest.mark.tiers("process", "container")
def test_a_language_that_is_not_there_is_unavailable(box, lang):
    r = run(box, lang, "x", "--env", "PATH=/nowhere")
    package = {"python": "python3", "node": "nodejs"}.get(lang, lang)
    assert (r.status, r.rc, r.exit_code) == ("unavailable", 125, None), r
    assert f"apt-get install {package}" in r.message, r


# node's own

def test_node_runs_with_little_memory(box, node):
    r = run(box, "node", "let s = 0; for (let i = 0; i < 1e6; i++) s += [i, 'x' + i].length; s",
            "--mem", "128M")
    assert r.status == "ok" and r.results[0]["text/plain"] == "2000000", r


def test_node_shows_images_values_and_errors(box, node):
    png = b"\x89PNG\r\n\x1a\nrest"
    r = run(box, "node", "import { Buffer } from 'node:buffer'\ndisplay.html('<b>')\n"
            f"await Buffer.from('{base64.b64encode(png).decode()}', 'base64')")
    assert r.results[0]["text/html"] == "<b>", r
    assert base64.b64decode(r.results[1]["image/png"]) == png, r
    r = run(box, "node", "function f() {\n  throw new TypeError('q')\n}\nf()")
    assert (r.error["name"], r.error["value"]) == ("TypeError", "q"), r
    assert "<code>:2" in r.error["traceback"] and "karzer" not in r.error["traceback"]


def test_a_person_sees_nodes_values_and_errors(box, node):
    done = box.cli("run", "--tier", box.tier, "--lang", "node", "-c", "[6 * 7]")
    assert (done.returncode, done.stdout) == (0, b"[ 42 ]\n"), done
    done = box.cli("run", "--tier", box.tier, "--lang", "node", "-c", "await null.x")
    assert done.returncode == 1 and b"TypeError: Cannot read" in done.stderr, done


def test_node_has_its_threads_and_children(box, node):
    r = run(box, "node", "const { Worker } = require('worker_threads')\n"
            "const w = new Worker('require(\"worker_threads\").parentPort.postMessage(1 + 1)',"
            " { eval: true })\n"
            "const [m] = await require('events').once(w, 'message')\n"
            "console.log(m, require('child_process').execSync('echo b').toString())")
    assert r.text == "2 b\n\n", r


def test_a_script_of_the_workspace_finds_what_is_beside_it(box, node):
    work = box.user.work()
    for name, text in (("lib.js", "module.exports = 7"), ("lib.mjs", "export default 8"),
                       ("lib.sh", "x=9"), ("main.js", "console.log(require('./lib'), __filename)"),
                       ("main.mjs", "import x from './lib.mjs'; console.log(x)"),
                       ("main.sh", '. "$(dirname "$0")/lib.sh"; echo $x $0 ${BASH_SOURCE[0]}')):
        (work / name).write_text(text)
        box.user.own(work / name)
    for name, want in (("main.js", f"7 {work}/main.js\n"), ("main.mjs", "8\n"),
                       ("main.sh", f"9 {work}/main.sh {work}/main.sh\n")):
        done = box.cli("run", "--tier", box.tier, "--workspace", str(work), str(work / name))
        assert done.stdout.decode() == want, done


# bash's own

def test_a_script_is_a_file_of_its_own(box):
    path = box.dir / "prog.sh"
    path.write_text('#!/bin/bash -eu\n[[ ${BASH_SOURCE[0]} == "$0" ]] && echo ${0##*/} $# $-\n'
                    "sed -n '/^DATA/,$p' \"$0\" | tail -1\nexit 3\nDATA\nhello\n")
    box.user.own(path)
    done = box.cli("run", "--tier", box.tier, str(path), "--", "a", "b")
    assert done.returncode == 3, done
    assert done.stdout == b"prog.sh 2 ehuB\nhello\n", done


def test_bash_traps_and_signals(box):
    r = run(box, "bash", "trap 'echo bye $?' EXIT\ntrap 'echo err' ERR\nfalse\n"
            "trap 'exit 9' INT\nkill -INT $$")
    assert (r.exit_code, r.text) == (9, "err\nbye 9\n"), r
    r = run(box, "bash", "echo a\nkill -SEGV $$")
    assert (r.status, r.signal, r.stdout) == ("error", 11, b"a\n"), r
