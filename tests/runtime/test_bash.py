# SPDX-License-Identifier: Apache-2.0
"""Bash's own: a program is as under bash, and a session is one shell."""
import resource
import subprocess

import pytest

from driver import ENV, PROGRAMS, Done, Driver, code_message

BASH = PROGRAMS["bash"]


def plain(code, *args, stdin=b"", script=None):
    what = ["-c", code, "bash"] if script is None else [str(script)]
    return subprocess.run(["bash", *what, *args], executable=BASH, env=ENV,
                          input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


PROGRAM = [
    "echo $0 $# \"$@\"", "echo $-; shopt; set -o", "declare -F; declare -p | grep -v PID",
    "env | sort", "compgen -v | sort", "echo $LINENO\n\necho $LINENO", "echo $SHLVL $_",
    "ls /proc/self/fd", "echo ${BASH_SOURCE[0]-none} ${FUNCNAME[0]-none}",
    "return 3", "break", "local x", "exit", "false", "true; (exit 7)", "kill -9 $$",
    "kill -TERM $$", "trap 'echo bye $?' EXIT; exit 3", "trap 'echo bye' EXIT; false",
    "trap 'echo err $? $LINENO' ERR; false; echo on", "set -E; trap 'echo err' ERR; f() { false; }; f",
    "trap 'echo int; exit 5' INT; kill -INT $$; echo no", "trap '' TERM; kill -TERM $$; echo on",
    "trap 'echo dbg' DEBUG; echo a; echo b", "trap 'echo ret' RETURN; f() { :; }; f",
    "set -e; false; echo no", "set -e; if false; then :; fi; echo on; ! true; echo on2",
    "set -eo pipefail; false | true; echo no", "set -u; echo $nosuch; echo no", "set -x; echo a",
    "set -v\necho a", "echo a\nif", "echo a\nfor", "echo \"a", "echo $(", "x=(1 2", "cat <<E\nhi",
    "cat <<'E'\n$x\nE\necho done", "cat <<<word", "read x; echo $x; cat", "cat; read x; echo $?",
    "nosuch; echo $?", "/etc; echo $?", "exec echo replaced", "sleep 9 <&- >&- 2>&- & echo $(( $! > 0 ))",
    "sleep 0.05 & wait; echo $?", "echo a | { read x; echo $x; }", "echo a >&2", "echo a | cat >&2",
    "f() { return 4; }; f", "select x in a; do echo $x; break; done <<<1", "printf '%s\\n' {1..3}",
    "echo a \\", "# only\n", "echo $BASH_EXECUTION_STRING", "coproc cat; echo ${#COPROC[@]}",
    "exec 3</dev/null; echo opened", "ulimit -n", "umask", "jobs; fg", "exit 300", "exit abc",
    "a=(1 2 3); echo ${a[@]:1}", "declare -A m=([k]=v); echo ${m[k]}", "echo $'\\xff'", "((0))",
    "[[ a == b ]]", "shopt -s expand_aliases\nalias x='echo aliased'\nx", "echo ${x:?why}",
    "history; bind -p 2>/dev/null | head -1; echo $PS1", "times >/dev/null; echo $?",
]


@pytest.mark.parametrize("code", PROGRAM)
def test_a_program_is_as_under_bash(bash, code):
    want = plain(code, "a", "b c", stdin=b"one\ntwo\n")
    got = bash(code, "a", "b c", stdin=b"one\ntwo\n")
    assert (got.out, got.err, got.status) == \
        (want.stdout, want.stderr, want.returncode)
    assert got.messages == []


SCRIPT = ["echo $# \"$@\"", "[[ ${BASH_SOURCE[0]} == \"$0\" ]] && echo main",
          "grep -c grep \"$0\"", "cat \"$0\"", "echo ${FUNCNAME[0]-none} ${0##*/} $LINENO",
          "return 3", "exit 4", "set -e\nfalse", "echo a\nif", "nosuch 2>/dev/null"]


@pytest.mark.parametrize("code", SCRIPT)
def test_a_file_is_as_a_script(bash, code, tmp_path):
    script, tmp = tmp_path / "prog.sh", tmp_path / "tmp"
    tmp.mkdir()
    script.write_text(code)
    want = plain(code, "a", "b c", script=script)
    got = bash(code, "a", "b c", name="some/prog.sh",
               env={**ENV, "TMPDIR": str(tmp)})
    assert (got.out, got.status) == (want.stdout, want.returncode)
    assert got.err.replace(str(tmp).encode(), b"X") == \
        want.stderr.replace(str(tmp_path).encode(), b"X")


def test_a_file_that_is_there_is_the_script_itself(bash, tmp_path):
    code = ("echo $0 ${BASH_SOURCE[0]}\n. ./lib.sh\n")
    (tmp_path / "prog.sh").write_text(code)
    (tmp_path / "lib.sh").write_text("echo ${BASH_SOURCE[0]}")
    r = bash(code, name="prog.sh", cwd=tmp_path)
    assert r.text == "prog.sh prog.sh\n./lib.sh\n", r.err
    (tmp_path / "prog.sh").write_text("echo another")
    r = bash(code, name="prog.sh", cwd=tmp_path, env={**ENV, "TMPDIR": str(tmp_path)})
    assert r.text.startswith(f"{tmp_path}/1-prog.sh "), r.text
    assert (tmp_path / "prog.sh").read_text() == "echo another"


def test_without_room_for_a_script_that_is_said(bash, tmp_path):
    r = bash("echo a", name="x.sh", env={**ENV, "TMPDIR": str(tmp_path / "none")})
    assert (r.status, r.out) == (126, b"") and b"no room for the script" in r.err


@pytest.mark.parametrize("line, want", [
    ("#!/bin/bash", "hB"), ("#!/bin/bash -e", "ehB"), ("#!/usr/bin/env -S bash -eu", "ehuB"),
    ("#!/usr/bin/env bash", "hB"), ("#! /bin/bash -euo pipefail", "ehuB"),
    ("#!/bin/bash -c nosuch", "hBc"), ("#!/bin/bash a b", "hB"),
])
def test_options_of_the_first_line_are_in_force(bash, line, want):
    r = bash(line + "\necho $-; set -o | grep pipefail")
    flags, pipefail = r.text.split("\n")[0], r.text.split()[-1]
    assert set(flags) - {"c", "s"} == set(want) - {"c"}, (r.text, r.err)
    assert (pipefail == "on") == ("pipefail" in line)


def test_code_that_is_too_long_for_an_argument_runs(bash, tmp_path):
    code = "# " + "x" * 200000 + "\necho $0 $1\n"
    r = bash(code, "a", env={**ENV, "TMPDIR": str(tmp_path)})
    assert r.text == f"{tmp_path}/code a\n"


def test_code_of_16_mib_runs(bash, tmp_path):
    code = (b"echo 2\n#" + b"x" * (16 << 20))[:16 << 20]
    assert bash(code, env={**ENV, "TMPDIR": str(tmp_path)}).out == b"2\n"


def test_bytes_that_are_no_text_run(bash):
    assert bash(b"echo '\xff\xfe'").out == b"\xff\xfe\n"


def test_few_descriptors_are_enough(bash):
    def limits():
        resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
    assert bash("echo a; f() { echo b; }; f", limits=limits).text == "a\nb\n"


# sessions

def run(session, code):
    """(status, stdout, stderr) of one block."""
    *said, done = session.block(f"{code}")
    assert said == [] and isinstance(done, Done)
    session.block("echo -n '\1'; echo -n '\1' >&2")
    out = session.read_until(session.process.stdout, b"\1")
    err = session.read_until(session.process.stderr, b"\1")
    return done.status, out[:-1].decode(), err[:-1].decode()


def test_variables_functions_and_arrays_live_on(bash_session):
    run(bash_session, "x=1; a=(1 2); declare -A m=([k]=v); f() { echo f$1; }; declare -i n=3")
    assert run(bash_session, "echo $x ${a[1]} ${m[k]}; f 2; n+=4; echo $n")[1] == "1 2 v\nf2\n7\n"


def test_options_traps_and_positions_live_on(bash_session):
    run(bash_session, "set -u -o pipefail; shopt -s nullglob; set -- a b; trap 'echo usr' USR1")
    assert run(bash_session, "echo $# $2; kill -USR1 $$; false | true") == (1, "2 b\nusr\n", "")
    status, _, err = run(bash_session, "shopt -q nullglob && [[ -o pipefail ]]")
    assert (status, err) == (0, "")


@pytest.mark.parametrize("status", [0, 1, 2, 42, 255])
def test_the_status_of_the_last_command_is_the_blocks(bash_session, status):
    done, = bash_session.block(f"(exit {status})")
    assert done.status == status
    bash_session.block("echo $?")
    assert bash_session.read_until(bash_session.process.stdout, b"\n") == b"%d\n" % status


def test_a_status_is_found_by_the_next_block_whatever_is_set(bash_session):
    bash_session.block("trap 'echo trapped' ERR")
    bash_session.block("false")
    assert bash_session.read_until(bash_session.process.stdout, b"\n") == b"trapped\n"
    bash_session.block("echo $?")
    assert bash_session.read_until(bash_session.process.stdout, b"\n") == b"1\n"
    bash_session.block("trap - ERR; set -e; ! true")
    done, = bash_session.block("echo $?; true")
    assert done.status == 0
    assert bash_session.read_until(bash_session.process.stdout, b"\n") == b"1\n"


def test_a_trap_on_err_sees_a_failure_once(bash_session):
    assert run(bash_session, "trap 'echo err $LINENO' ERR\ntrue\nfalse") == (1, "err 3\n", "")
    assert run(bash_session, "f() { false; }\nf") == (1, "err 2\n", "")
    run(bash_session, "trap - ERR")
    assert run(bash_session, "false") == (1, "", "")


def test_xtrace_shows_the_blocks_commands_alone(bash_session):
    status, out, err = run(bash_session, "set -x\necho a")
    assert out == "a\n" and err.startswith("++ echo a\n") and "karzer" not in err
    status, out, err = run(bash_session, "echo b")
    assert out == "b\n" and err.startswith("++ echo b\n") and "karzer" not in err


def test_nounset_and_errexit_do_not_hurt_the_driver(bash_session):
    run(bash_session, "set -euf -o noclobber; IFS=0123456789x; LC_ALL=C")
    assert run(bash_session, "echo on") == (0, "on\n", "")


def test_errexit_ends_the_shell(bash_session):
    bash_session.block("set -e; trap 'echo bye $?' EXIT")
    bash_session.send(code_message("echo a; (exit 3); echo b", flags=0))
    bash_session.finish()
    assert (bash_session.text, bash_session.status) == ("a\nbye 3\n", 3)
    assert bash_session.messages == []


def test_exit_ends_the_shell(bash_session):
    bash_session.block("trap 'echo bye' EXIT")
    bash_session.send(code_message("f() { exit 5; }; f", flags=0))
    bash_session.finish()
    assert (bash_session.text, bash_session.status) == ("bye\n", 5)


def test_the_end_of_the_channel_runs_the_trap_on_exit(bash_session):
    bash_session.block("trap 'echo bye' EXIT")
    bash_session.ours.shutdown(1)
    bash_session.finish()
    assert (bash_session.text, bash_session.status) == ("bye\n", 0)


@pytest.mark.parametrize("code, status, said", [
    ("echo a\nif", 2, "syntax error"), ("echo \"b", 2, "unexpected EOF"),
    ("x=$(", 2, "unexpected EOF"), ("}", 2, "syntax error near unexpected token `}'"),
    ("break", 0, ""), ("continue 2", 0, ""), ("return 3", None, "return"),
    ("local x=1", 1, "local: can only be used in a function"),
    ("nosuch", 127, "line 1: nosuch: command not found"),
    ("\n\nnosuch", 127, "line 3: nosuch: command not found"),
    ("echo a \\", 0, ""), ("cat <<E\nhi", 0, "here-document"), ("cat <<E\nhi\nE\nfalse", 1, ""),
    ("# only", 0, ""), ("", 0, ""), ("(", 2, "syntax error"), ("f() { break; }; f", 0, "break"),
])
def test_odd_code_ends_its_block_alone(bash_session, code, status, said):
    run(bash_session, "x=kept")
    got, out, err = run(bash_session, code)
    assert status is None or got == status, err
    assert said in err and "karzer" not in out + err, err
    assert bool(said) == bool(err), err
    assert run(bash_session, "echo $x") == (0, "kept\n", "")


def test_lines_are_numbered_from_the_start_of_the_block(bash_session):
    run(bash_session, "f() {\n  echo $LINENO\n}\nx=1")
    assert run(bash_session, "echo $LINENO\n\necho $LINENO")[1] == "1\n3\n"


def test_jobs_in_the_background_live_on(bash_session):
    run(bash_session, "sleep 0.05 & p=$!")
    assert run(bash_session, "wait $p; echo $?") == (0, "0\n", "")


def test_stdin_is_shared_by_the_blocks(bash):
    with Driver(bash.home, lang="bash", stdin=subprocess.PIPE) as d:
        d.process.stdin.write(b"one\ntwo\n")
        d.process.stdin.flush()
        d.block("read a")
        d.block("read b; echo $a-$b")
        assert d.read_until(d.process.stdout, b"\n") == b"one-two\n"


@pytest.mark.parametrize("code", [
    "read() { echo mine; }; printf() { echo mine; }; set() { echo mine; }",
    "unset() { :; }; local() { :; }; return() { :; }; test() { :; }",
    "IFS=; PATH=; LC_ALL=C; unset HOME", "exec 3>&- 4>&- 5>&-", "alias eval=false local=false",
    "readonly IFS=x; readonly status=5 options=y hex=z size=1 byte=q i=3",
    "shopt -s failglob extglob nocasematch; set -f -C -h -B", "karzer=5; karzer_n=x",
    "exec 2>/dev/null", "cd /proc", "umask 777", "set -o posix", "shopt -s lastpipe; set -m",
    "declare -i karzer_n; declare -u karzer_name", "PS4='$(nosuch)'; set -x; true; set +x",
])
def test_what_a_block_breaks_of_its_own_leaves_the_session_whole(bash_session, code):
    bash_session.block(code)
    for want in (0, 7):
        done, = bash_session.block(f"(exit {want})")
        assert done.status == want
    bash_session.block("echo alive")
    assert b"alive\n" in bash_session.read_until(bash_session.process.stdout, b"alive\n")


def test_the_driver_shows_itself_by_its_prefix_alone(bash_session):
    _, out, _ = run(bash_session, "declare -F; compgen -v")
    before = plain("declare -F; compgen -v").stdout.decode()
    new = set(out.split()) - set(before.split())
    assert {n for n in new if not n.startswith("karzer")} <= {"declare", "-f", "PIPESTATUS"}, new


def test_a_block_may_replace_the_shell(bash_session):
    bash_session.send(code_message("exec echo replaced", flags=0))
    bash_session.finish()
    assert (bash_session.text, bash_session.status) == ("replaced\n", 0)
