"""A terminal of the cell's own: exec -t, from a person's side of it."""
import os
import signal
import subprocess
import time

import pytest

import karzer
import screen

BASH = ("bash", "--norc", "--noprofile", "-i")


def needs(program):
    if not os.path.exists(f"/usr/bin/{program}"):
        karzer.lack(program, f"no {program} here")


def person(box, *argv, options=(), **more):
    return screen.Person(box, "exec", "--tier", box.tier, "-t", *options, "--",
                         *(argv or BASH), **more)


def test_the_program_has_a_terminal_of_its_own(box):
    with person(box, "sh", "-c", "tty; stty size; echo $TERM; "
                "ls /dev/pts; ls -l /proc/self/fd; ps -o tty= -p $$",
                rows=31, columns=99) as p:
        status = p.end()
        assert status == 0, p.shown
        lines = p.shown.decode().split("\r\n")
        assert lines[:3] == ["/dev/pts/0", "31 99", "xterm-256color"], lines
        assert lines[3].split() == ["0", "ptmx"], "no terminal but its own"
        host = os.ttyname(p.slave)
        assert host not in p.shown.decode() or host == "/dev/pts/0"


def test_a_shell_controls_its_jobs(box):
    with person(box) as p:
        p.expect(r"\$ ")
        assert b"no job control" not in p.shown
        p.type("echo begin; sleep 100\r")
        p.expect(r"\rbegin")
        time.sleep(0.3 * karzer.SLOW)  # until it sleeps
        p.type(b"\x1a")
        p.expect("Stopped +sleep 100")
        p.type("bg\r")
        p.expect(r"\[1\]\+ sleep 100 &")
        p.type("fg\r")
        p.expect("sleep 100")
        time.sleep(0.3 * karzer.SLOW)
        p.type(b"\x03")
        p.expect(r"\$ ")
        p.type("echo st=$?\r")
        p.expect("st=130")
        p.type("exit 7\r")
        assert p.end() == 7
        assert p.modes() == p.before


@pytest.mark.parametrize("key, name", [(b"\x03", "INT"), (b"\x1c", "QUIT")])
def test_keys_become_signals_of_the_foreground(box, key, name):
    script = ("import os,signal,time\n"
              f"signal.signal(signal.SIG{name}, lambda *_: os.write(1, b'got it') and os._exit(9))\n"
              "os.write(1, b'ready')\nwhile True: time.sleep(1)")
    with person(box, "/usr/bin/python3", "-I", "-S", "-c", script) as p:
        p.expect("ready")
        p.type(key)
        p.expect("got it")
        assert p.end() == 9


def test_the_terminal_is_raw_while_it_runs_and_as_before_after(box):
    with person(box, "cat") as p:
        karzer.wait_until(p.is_raw)
        assert p.is_raw()
        p.type("typed\r")
        p.expect("typed\r\ntyped\r\n")
        p.type(b"\x04")
        assert p.end() == 0
        assert p.modes() == p.before


def test_a_new_size_reaches_the_program(box):
    script = "trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.1; done"
    with person(box, "sh", "-c", script) as p:
        p.expect("ready")
        p.resize(50, 132)
        p.expect("50 132")
        assert p.end() == 0


def test_a_screen_program_draws_and_leaves_nothing_set(box):
    needs("less")
    with person(box, "less", "/etc/passwd", options=("--env", "LESS=")) as p:
        p.expect(r"\x1b\[\?1049h")
        p.expect(r"\(END\)|passwd")
        p.type("q")
        assert p.end() == 0
        assert b"\x1b[?1049l" in p.shown


def test_what_a_program_left_set_is_undone(box):
    leave = r"\033[?1049h\033[?1000;1006h\033[?25l\033[?2004h\033[31m"
    with person(box, "printf", leave) as p:
        assert p.end() == 0
        for mode in (b"1000l", b"1006l", b"25h", b"2004l", b"1049l"):
            assert b"\x1b[?" + mode in p.shown, p.shown


@pytest.mark.parametrize("attack", [
    r"\033]0;title\007", r"\033]2;title\033\\", r"\033]52;c;aGFjaw==\007",
    r"\033]8;;http://x\033\\", r"\033[21t", r"\033[6n", r"\033[c", r"\033[>c",
    r"\033P$qm\033\\", r"\005", r"\033_x\033\\", r"\033[5i", r"\033[3J",
    r"\033c", r"\302\2335n", r"\2335n", r"\033]1337;File=:aGk=\007"])
def test_a_sequence_that_does_more_than_draw_is_stopped(any_box, attack):
    any_box.tier = "container"
    with person(any_box, "printf", f"a{attack}b\n") as p:
        assert p.end() == 0
        shown = p.shown.replace(b"\xef\xbf\xbd", b"?")
        assert b"\x1b" not in shown and b"\x05" not in shown, shown
        assert shown.startswith(b"a"), shown


def test_the_clipboard_is_told_of(any_box):
    with person(any_box, "printf", r"\033]52;c;aGFjaw==\007") as p:
        assert p.end() == 0
        assert b"clipboard" in p.shown and b"aGFjaw" not in p.shown


def test_nothing_can_be_typed_into_a_terminal_from_inside(box):
    script = ("import fcntl,os\n"
              "for nr in (0x5412, 0x541C, 0x541D, 0x100005412):\n"
              "    for fd in (0, os.open('/dev/tty', os.O_RDWR)):\n"
              "        try: fcntl.ioctl(fd, nr & 0xffffffff, b'x\\0'); print('PUSHED')\n"
              "        except OSError as e: print('refused', e.errno)\n")
    with person(box, "/usr/bin/python3", "-I", "-S", "-c", script) as p:
        assert p.end() == 0
        assert b"PUSHED" not in p.shown and p.shown.count(b"refused 1\r") == 8


def test_the_operators_terminal_is_nowhere_inside(box):
    script = ("import os\n"
              "for base, _, names in os.walk('/dev'):\n"
              "    for n in names:\n"
              "        path = os.path.join(base, n)\n"
              "        if os.path.isfile(path) or not os.path.exists(path): continue\n"
              "        print(path, os.stat(path).st_rdev)\n"
              "for fd in os.listdir('/proc/self/fd'):\n"
              "    try: st = os.fstat(int(fd)); print('fd', fd, st.st_dev, st.st_ino)\n"
              "    except OSError: pass\n")
    with person(box, "/usr/bin/python3", "-I", "-S", "-c", script) as p:
        assert p.end() == 0
        mine = os.fstat(p.slave)
        assert f"{mine.st_dev} {mine.st_ino}\r" not in p.shown.decode()


def test_a_killed_engine_leaves_the_terminal_as_it_was(box):
    with person(box, "sh", "-c", r"printf '\033[?1049h\033[?25lready'; sleep 60") as p:
        p.expect("ready")
        assert p.is_raw()
        p.signal(signal.SIGKILL)
        assert p.end() == -signal.SIGKILL
        assert karzer.wait_until(lambda: p.modes() == p.before)
        assert karzer.wait_until(lambda: p.look() and b"\x1b[?1049l" in p.shown)
        assert b"\x1b[?25h" in p.shown


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS])
def test_a_crashed_engine_leaves_the_terminal_as_it_was(any_box, number):
    with person(any_box, "sh", "-c", "echo ready; sleep 60") as p:
        p.expect("ready")
        p.signal(number)
        assert p.end() == -number
        assert p.modes() == p.before


def test_a_stopped_engine_gives_the_terminal_back_meanwhile(any_box):
    with person(any_box, "cat") as p:
        assert karzer.wait_until(p.is_raw)
        p.signal(signal.SIGTSTP)
        assert karzer.wait_until(lambda: p.modes() == p.before)
        p.signal(signal.SIGCONT)
        assert karzer.wait_until(p.is_raw)
        p.type(b"on\r")
        p.expect("on\r\non")
        p.type(b"\x04")
        assert p.end() == 0


def test_a_limit_ends_the_session_and_gives_the_terminal_back(box):
    with person(box, "sleep", "60", options=("--wall", karzer.brief(1))) as p:
        assert p.end() == 124
        assert p.modes() == p.before
        assert b"wall time" in p.shown and b"\r\n" in p.shown


def test_a_closed_window_ends_the_run(box):
    with person(box, "sh", "-c", "trap '' HUP; echo ready; sleep 60",
                stderr=subprocess.DEVNULL) as p:
        p.expect("ready")
        os.close(p.slave)
        os.close(p.master)
        p.slave = p.master = -1
        assert p.process.wait(20 * karzer.SLOW) == 137
    ends = [e for e in box.log("--kind", "run.finished")]
    assert ends[-1]["status"] == "killed", ends[-1]


def test_output_is_complete_at_the_end(box):
    with person(box, "seq", "20000") as p:
        assert p.end() == 0
        assert p.shown.split() == [str(i).encode() for i in range(1, 20001)]


def test_files_come_out_after_a_session(box):
    with person(box, "sh", "-c", "echo made >f", options=("--out", "f:f")) as p:
        assert p.end() == 0, p.shown
    assert (box.dir / "f").read_text() == "made\n"


def test_without_a_terminal_it_is_a_usage_error(any_box):
    done = any_box.cli("exec", "-t", "--", "true")
    assert done.returncode == 2 and b"stdin is no terminal" in done.stderr


def test_a_terminal_is_for_persons_and_json_is_not(any_box):
    done = any_box.cli("exec", "-t", "--json", "--", "true")
    assert done.returncode == 2 and b"--json" in done.stderr


def test_a_term_that_is_no_word_is_not_passed_on(any_box):
    with person(any_box, "sh", "-c", "echo t=$TERM", env={"TERM": "../x\n"}) as p:
        p.expect("t=xterm\r")
        assert p.end() == 0


def test_the_record_says_that_there_was_a_terminal(any_box):
    with person(any_box, "true") as p:
        assert p.end() == 0
    assert any_box.log("--kind", "run.granted")[-1]["terminal"] is True


def test_an_editor_edits(box):
    needs("vim")
    with person(box, "vim", "-u", "NONE", "-i", "NONE", "f",
                options=("--out", "f:edited")) as p:
        p.expect(r"\x1b\[\?1049h")
        p.type("ihello from vim\x1b:wq\r")
        assert p.end() == 0, p.shown
    assert (box.dir / "edited").read_text() == "hello from vim\n"
