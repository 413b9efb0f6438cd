"""karzer run -i: blocks typed by a person, or piped, in one cell."""
import os
import signal
import time

import pytest

import karzer
import screen


def person(box, *options):
    return screen.Person(box, "run", "-i", "--tier", box.tier, *options)


def piped(box, text, *options, **more):
    return box.cli("run", "-i", "--tier", box.tier, *options,
                   stdin=text.encode(), **more)


def test_blocks_run_one_by_one_and_state_is_kept(box):
    with person(box) as p:
        p.expect(f"{box.tier} tier")
        p.expect(">>> ")
        p.type("x = 40\n")
        p.expect(">>> ")
        p.type("x + 2\n")
        p.expect("\n42\r\n>>> ")
        p.type("import os; os.getcwd()\n")
        p.expect("'/home/user'")
        p.type(b"\x04")
        assert p.end() == 0
        assert p.modes() == p.before


def test_a_block_goes_on_until_it_is_whole(box):
    with person(box) as p:
        p.expect(">>> ")
        p.type("for i in range(2):\n")
        p.expect(r"\.\.\. ")
        p.type("    print('n', i)\n")
        p.expect(r"\.\.\. ")
        p.type("\n")
        p.expect("n 0\r\nn 1\r\n>>> ")
        p.type("max(1,\n")
        p.expect(r"\.\.\. ")
        p.type("2)\n")
        p.expect("\n2\r\n>>> ")
        p.type("'''a\n")
        p.expect(r"\.\.\. ")
        p.type("b'''\n")
        p.expect(r"a\\nb")
        p.type(b"\x04")
        assert p.end() == 0


def test_interrupt_ends_a_block_and_not_the_session(box):
    with person(box) as p:
        p.expect(">>> ")
        for i in range(4):  # more often than would kill a single run
            p.type(f"print('begin{i}'); import time; time.sleep(60)\n")
            p.expect(rf"\nbegin{i}")
            p.type(b"\x03")
            p.expect("KeyboardInterrupt")
            p.expect(">>> ")
            p.type(f"y = {i}\n")
            p.expect(">>> ")
        p.type("y\n")
        p.expect("\n3\r\n")
        p.type(b"\x04")
        p.end()


def test_interrupt_at_the_prompt_drops_what_was_typed(box):
    with person(box) as p:
        p.expect(">>> ")
        p.type("if True:\n")
        p.expect(r"\.\.\. ")
        p.type(b"\x03")
        p.expect(">>> ")
        p.type("'still here'\n")
        p.expect("\n'still here'")
        p.type(b"\x04")
        assert p.end() == 0


def test_a_limit_ends_the_session_and_says_so(box):
    with person(box, "--wall", karzer.brief(1)) as p:
        p.expect(">>> ")
        p.type("while True: pass\n\n")
        p.expect("wall time")
        assert p.end() == 124


def test_the_wall_time_is_each_blocks_own(box):
    done = piped(box, "import time\n" + "time.sleep(0.6)\n" * 3 + "'end'\n",
                 "--wall", karzer.seconds(1.5))
    assert done.stdout == b"'end'\n", done


def test_memory_holds_for_the_session(box):
    done = piped(box, "x = bytearray(512 << 20)\n'on'\n", "--mem", "64M")
    assert b"memory" in done.stderr, done


def test_piped_blocks_have_no_prompt_and_end_with_the_last_status(box):
    text = ("x = 3\nfor i in range(x):\n    print(i)\n\ndef f():\n  return x\n\n"
            "f()\n1/0\n")
    done = piped(box, text)
    assert done.stdout == b"0\n1\n2\n3\n", done
    assert b"ZeroDivisionError" in done.stderr and done.returncode == 1


LANGUAGES = {
    "python": ("def f():\n  return 2\n\nf() +\\\n 1\n'''a\nb'''\n",
               b"3\n'a\\nb'\n"),
    "node": ("function f() {\n  return 2;\n}\nf(\n) + 1\n`a\nb`\n/* c\n*/ console.log(7)\n"
             "await Promise.resolve(\n9)\n", b"3\n'a\\nb'\n7\n9\n"),
    "bash": ("for i in 1 2; do\necho $i\ndone\nx=\"a\nb\"\necho \"$x\"\n"
             "cat <<E\nhere\nE\necho c \\\n d\ncd /tmp\npwd\n",
             b"1\n2\na\nb\nhere\nc d\n/tmp\n"),
}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_each_language_says_when_a_block_is_whole(any_box, lang):
    if lang == "node" and not os.path.exists("/usr/bin/node"):
        karzer.lack("node", "no node here")
    text, want = LANGUAGES[lang]
    options = ("--mem", "1G") if lang == "node" else ()
    done = piped(any_box, text, "--lang", lang, *options)
    assert done.stdout == want and not done.stderr, done


def test_a_last_line_without_its_end_runs(box):
    assert piped(box, "print('a')\nprint('b')").stdout == b"a\nb\n"


def test_a_block_that_stays_open_is_told_at_the_end(box):
    done = piped(box, "print('a')\nf(1,\n")
    assert done.stdout == b"a\n" and b"SyntaxError" in done.stderr, done


def test_code_that_is_given_is_the_first_block(box):
    done = box.cli("run", "-i", "--tier", box.tier, "-c", "x = 5",
                   stdin=b"x * 2\n")
    assert done.stdout == b"10\n", done


@pytest.mark.parametrize("word", ["exit", "quit()"])
def test_a_farewell_ends(any_box, word):
    done = piped(any_box, f"print(1)\n{word}\nprint(2)\n")
    assert done.stdout == b"1\n" and done.returncode == 0, done


def test_blocks_of_any_size_go_in(any_box):
    """A large one after small ones: what the agent will take is counted on."""
    text = "".join(f"s{i} = '{'x' * size}'\n"
                   for i, size in enumerate((15000, 66000, 100, 200000, 65536)))
    done = piped(any_box, text + "len(s0), len(s1), len(s3), len(s4)\n")
    assert done.stdout == b"(15000, 66000, 200000, 65536)\n", done


def test_a_check_runs_nothing_and_is_not_recorded(any_box):
    done = piped(any_box, "print('once')\n")
    assert done.stdout == b"once\n"
    session = any_box.log("--kind", "run.granted")[-1]["run"]
    blocks = [r for r in any_box.log("--kind", "code.run")
              if r["sandbox"] == session]
    assert len(blocks) == 1, blocks


def test_hostile_code_cannot_hold_the_prompt(any_box):
    """It may spoil how its own session is asked; karzer's clock still runs."""
    done = piped(any_box, "import codeop, time\n"
                 "codeop.compile_command = lambda *a: time.sleep(60)\n'next'\n",
                 "--wall", karzer.brief(1))
    assert done.returncode == 124 or b"next" in done.stdout, done


def test_a_session_that_is_hung_up_ends(any_box):
    with person(any_box) as p:
        p.expect(">>> ")
        p.signal(signal.SIGTERM)
        assert p.end() == 128 + signal.SIGTERM


@pytest.mark.parametrize("options, word", [
    (("--json",), b"--json"), (("--in", "a:b"), b"--in"), (("-",), b"stdin")])
def test_what_does_not_go_with_it_is_refused(any_box, options, word):
    done = any_box.cli("run", "-i", *options)
    assert done.returncode == 2 and word in done.stderr, done


def test_escape_sequences_are_shown_not_obeyed(any_box):
    with person(any_box) as p:
        p.expect(">>> ")
        p.type("print(chr(27) + ']0;title' + chr(7))\n")
        p.expect(r"\^\[\]0;title\^G")
        p.type(b"\x04")
        p.end()
        assert b"\x1b]" not in p.shown


def test_an_idle_session_has_no_clock(any_box):
    with person(any_box, "--wall", karzer.seconds(1)) as p:
        p.expect(">>> ")
        time.sleep(1.5 * karzer.SLOW)
        p.type("'here'\n")
        p.expect("\n'here'")
        p.type(b"\x04")
        assert p.end() == 0
