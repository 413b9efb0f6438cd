# SPDX-License-Identifier: Apache-2.0
"""What holds in every language: one table of snippets a claim."""
import os
import signal
import struct

import pytest

from driver import LAST, Driver, Done, code_message

PRINT = {"python": "print(1)", "node": "console.log(1)", "bash": "echo 1"}
ARGS = {"python": "import sys\nfor a in sys.argv[1:]: print(a)",
        "node": "for (const a of process.argv.slice(2)) console.log(a)",
        "bash": 'for a; do echo "$a"; done'}
STDIN = {"python": "import sys\nprint(sys.stdin.read().upper())",
         "node": "let s = ''\nprocess.stdin.on('data', (d) => { s += d })\n"
                 "process.stdin.on('end', () => console.log(s.toUpperCase()))",
         "bash": "read -r a\nread -r b\necho ${a^^}\necho ${b^^}\necho"}
EXIT = {"python": "import sys; sys.exit(%d)", "node": "process.exit(%d)",
        "bash": "exit %d"}
FAIL = {"python": "print('a')\nraise ValueError('why')\nprint('b')",
        "node": "console.log('a')\nthrow new TypeError('why')\nconsole.log('b')",
        "bash": "echo a\nset -e\nfalse\necho b"}
SYNTAX = {"python": "x = 1\nif x\n", "node": "let x = 1\nif x\n",
          "bash": "y=1\nif x ]; fi\n"}
BYTES = {"python": "import sys\nsys.stdout.buffer.write(b'\\xff\\x00\\r\\n')",
         "node": "process.stdout.write(Buffer.from([255, 0, 13, 10]))\nundefined",
         "bash": r"printf '\xff\x00\r\n'"}
CHILD = {"python": "import subprocess\nprint('a')\n"
                   "subprocess.run(['echo', 'b'])\nprint('c')",
         "node": "const { execFileSync } = require('child_process')\n"
                 "console.log('a')\n"
                 "execFileSync('echo', ['b'], { stdio: 'inherit' })\n"
                 "console.log('c')",
         "bash": "echo a\n/bin/echo b\necho c"}
SIGNAL = {"python": "import os\nprint('a')\nos.kill(os.getpid(), 9)",
          "node": "console.log('a')\nprocess.kill(process.pid, 'SIGKILL')",
          "bash": "echo a\nkill -9 $$"}
SLEEP = {"python": "import time\nprint('a')\ntime.sleep(60)",
         "node": "console.log('a')\nsetTimeout(() => {}, 60000)",
         "bash": "echo a\nsleep 60"}
SET = {"python": "x = 41\ndef f(): return x",
       "node": "let x = 41\nfunction f() { return x }",
       "bash": "x=41\nf() { echo $x; }"}
GET = {"python": "x += 1\nprint(f())", "node": "x += 1\nconsole.log(f())",
       "bash": "(( x += 1 ))\nf"}
BREAK = {"python": "y = 1\nnosuch\ny = 2",
         "node": "var y = 1\nnosuch\ny = 2",
         "bash": "y=1\nnosuch"}
SHOW = {"python": "print(y)", "node": "console.log(y)", "bash": "echo $y"}
FDS = {"python": "import os, subprocess, sys\n"
                 "subprocess.run(['ls', '/proc/self/fd'], close_fds=False)",
       "node": "require('child_process').spawnSync('ls', ['/proc/self/fd'],"
               " { stdio: 'inherit' }).status\nundefined",
       "bash": "ls /proc/self/fd"}
PWD = {"python": "import os\nprint(os.getcwd())",
       "node": "console.log(process.cwd())", "bash": "pwd"}
CD = {"python": "import os\nos.chdir('/usr')", "node": "process.chdir('/usr')",
      "bash": "cd /usr"}
UTF8 = {"python": "print('h\u00e9 \u20ac')", "node": "console.log('h\u00e9 \u20ac')",
        "bash": "echo 'h\u00e9 \u20ac'"}


def test_a_print_says_nothing_on_the_channel(program):
    r = program(PRINT[program.lang])
    assert (r.out, r.err, r.status, r.messages) == (b"1\n", b"", 0, [])


@pytest.mark.parametrize("code", ["", "\n", "\n\n\n"])
def test_no_code_is_a_program(program, code):
    r = program(code)
    assert (r.out, r.err, r.status, r.messages) == (b"", b"", 0, [])


def test_arguments_are_the_programs(program):
    r = program(ARGS[program.lang], "a", "-b", "--", "c d", "", "é")
    assert r.text == "a\n-b\n--\nc d\n\né\n", r.err


def test_stdin_is_the_programs(program):
    assert program(STDIN[program.lang], stdin=b"one\ntwo\n").text == \
        "ONE\nTWO\n\n"


@pytest.mark.parametrize("status", [0, 1, 3, 255])
def test_an_exit_status_is_the_programs(program, status):
    r = program(EXIT[program.lang] % status)
    assert (r.status, r.messages, r.err) == (status, [], b"")


def test_a_failure_ends_the_program(program):
    r = program(FAIL[program.lang])
    assert (r.text, r.status) == ("a\n", 1)
    if program.lang != "bash":
        assert r.error.value == "why" and r.error.errno == 0
        assert r.error.name in ("ValueError", "TypeError")
        assert "karzer" not in r.error.traceback + r.err.decode()


def test_a_syntax_error_names_its_line(program):
    r = program(SYNTAX[program.lang])
    assert r.status in (1, 2) and b"yntax" in r.err and b"2" in r.err, r.err
    assert b"karzer" not in r.err
    if program.lang != "bash":
        assert r.error.name == "SyntaxError"


def test_bytes_are_exact(program):
    assert program(BYTES[program.lang]).out == b"\xff\x00\r\n"


def test_text_that_is_not_ascii_is_whole(program):
    assert program(UTF8[program.lang]).out.decode() == "hé €\n"


def test_the_output_of_children_is_in_order(program):
    assert program(CHILD[program.lang]).text == "a\nb\nc\n"


def test_what_was_printed_outlives_a_signal(program):
    r = program(SIGNAL[program.lang])
    assert (r.out, r.status) == (b"a\n", -signal.SIGKILL)


def test_a_line_is_out_before_the_program_goes_on(program):
    with Driver(program.home, lang=program.lang) as driver:
        driver.send(code_message(SLEEP[program.lang]))
        assert driver.read_until(driver.process.stdout, b"\n") == b"a\n"


def test_code_may_come_in_pieces(program):
    with Driver(program.home, lang=program.lang) as d:
        for byte in code_message(PRINT[program.lang]):
            d.send(bytes([byte]))
        assert d.finish().out == b"1\n"


def test_large_code_runs(program):
    comment = {"node": "// x\n"}.get(program.lang, "# x\n")
    r = program(comment * 300000 + PRINT[program.lang])
    assert (r.out, r.status) == (b"1\n", 0), r.err[:500]


def test_the_channel_is_not_a_childs(program):
    assert program(FDS[program.lang]).text.split() == ["0", "1", "2", "3"]


def test_bad_messages_from_the_engine_end_the_driver(program):
    for data in (b"\x08\0\0\0\2\0\0\0" + bytes(8), b"\x07\0\0\0\1\0\0\0" + bytes(7),
                 b"\xff\xff\xff\xff\1\0\0\0", b"\x08\0\0", b""):
        with Driver(program.home, lang=program.lang) as d:
            d.send(data)
            d.ours.shutdown(1)
            d.finish()
        assert d.messages == [] and d.out == b"", d.lang


def test_names_live_from_block_to_block(blocks):
    done, = blocks.block(SET[blocks.lang])
    assert done.status == 0
    done, = blocks.block(GET[blocks.lang])
    assert done.status == 0
    assert blocks.read_until(blocks.process.stdout, b"\n") == b"42\n"


def test_the_directory_lives_from_block_to_block(blocks):
    blocks.block(CD[blocks.lang])
    blocks.block(PWD[blocks.lang])
    assert blocks.read_until(blocks.process.stdout, b"\n") == b"/usr\n"


def test_an_error_ends_the_block_alone(blocks):
    *said, done = blocks.block(BREAK[blocks.lang])
    assert done.status == {"bash": 127}.get(blocks.lang, 1)
    assert bool(said) == (blocks.lang != "bash")
    blocks.block(SHOW[blocks.lang])
    assert blocks.read_until(blocks.process.stdout, b"\n") == b"1\n"


def test_a_syntax_error_ends_the_block_alone(blocks):
    blocks.block(SET[blocks.lang])
    *_, done = blocks.block(SYNTAX[blocks.lang])
    assert done.status in (1, 2)
    blocks.block(GET[blocks.lang])
    assert blocks.read_until(blocks.process.stdout, b"\n") == b"42\n"


def test_output_comes_before_the_end_of_the_block(blocks):
    blocks.block(PRINT[blocks.lang])
    assert os.read(blocks.process.stdout.fileno(), 10) == b"1\n"


def test_the_last_block_ends_as_a_program(blocks):
    blocks.block(SET[blocks.lang])
    blocks.send(code_message(EXIT[blocks.lang] % 6))
    blocks.finish()
    assert blocks.status == 6


def test_the_end_of_the_channel_ends_the_driver(blocks):
    blocks.block(SET[blocks.lang])
    blocks.ours.shutdown(1)
    blocks.finish()
    assert (blocks.out, blocks.status) == (b"", 0)


def test_blocks_may_be_sent_before_they_are_asked_for(blocks):
    blocks.send(code_message(SET[blocks.lang], flags=0) +
                code_message(GET[blocks.lang], flags=0) +
                code_message(EXIT[blocks.lang] % 4, flags=LAST))
    blocks.finish()
    assert blocks.text == "42\n" and blocks.status == 4
    assert [m.status for m in blocks.messages if isinstance(m, Done)] == [0, 0]


def test_many_blocks_run(blocks):
    for _ in range(200):
        blocks.block(SET[blocks.lang])
    blocks.block(GET[blocks.lang])
    assert blocks.read_until(blocks.process.stdout, b"\n") == b"42\n"


def test_a_message_is_what_the_abi_says(blocks):
    """Little endian: size, DONE, status."""
    blocks.send(code_message(PRINT[blocks.lang], flags=0))
    assert blocks.ours.recv(100) == struct.pack("<IIi", 4, 66, 0)
