"""Bytes in, bytes out, arguments, exit codes, signals: as without karzer."""
import hashlib
import os
import signal
import subprocess
import time

import pytest

import karzer


def test_stdin_reaches_the_program(box):
    r = box.run("import sys; print(sys.stdin.read().upper())", stdin=b"hello\n")
    assert r.text == "HELLO\n\n", r


def test_stdin_is_exact_and_ends(box):
    data = bytes(range(256)) * 5000 + b"\xff\x00no newline"
    r = box.exec("sha256sum", stdin=data)
    assert r.text.split()[0] == hashlib.sha256(data).hexdigest(), r


def test_a_program_that_does_not_read_stdin_does_not_block(box):
    r = box.exec("true", stdin=bytes(4 << 20))
    assert r.status == "ok", r


def test_a_closed_stdin_is_an_empty_one(box):
    p = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh",
                        *box.command("exec", "--tier", box.tier, "--", "cat")],
                       env=box.user.env, cwd=box.dir, capture_output=True,
                       timeout=60, check=False)
    assert (p.returncode, p.stdout) == (0, b""), p


def test_output_of_pipes_is_byte_exact(box):
    data = bytes(range(256)) * 300 + b"\x1b]0;title\x07\x00\xff"
    done = box.cli("exec", "--tier", box.tier, "--output", "4M", "--", "cat", stdin=data)
    assert done.returncode == 0 and done.stdout == data, done.stderr


def test_stdout_and_stderr_are_apart(box):
    done = box.cli("exec", "--tier", box.tier, "--", "sh", "-c", "echo out; echo err >&2")
    assert done.stdout == b"out\n"
    assert done.stderr.startswith(b"err\n"), done


def test_output_that_is_not_utf8_is_base64_in_json(box):
    r = box.exec("printf", r"\377\000x")
    assert r.stdout_encoding == "base64" and r.stdout == b"\xff\x00x", r


def test_nul_bytes_survive_json(box):
    r = box.exec("printf", r"a\000b")
    assert r.stdout == b"a\0b", r


def test_a_line_of_100_mb_is_counted_and_cut(box):
    r = box.python("import os\nfor i in range(100): os.write(1, b'x' * (1 << 20))",
                   "--output", "2M", "--wall", karzer.seconds(60), timeout=90)
    assert r.status == "ok" and r.stdout_total_bytes == 100 << 20, r.status
    assert r.stdout == b"x" * (2 << 20)


def test_output_without_a_final_newline_is_kept_so(box):
    assert box.exec("printf", "abc").stdout == b"abc"


def test_output_streams_as_it_comes(box):
    p = box.start("exec", "--tier", box.tier, "--", "sh", "-c", "echo first; exec sleep 30")
    try:
        began = time.monotonic()
        assert p.stdout.readline() == b"first\n"
        assert time.monotonic() - began < 10 * karzer.SLOW
        assert p.poll() is None
    finally:
        karzer.end(p)


def test_arguments_are_exact(box):
    args = ["", " ", "a b", "--json", "-x", "\n", "é", "*", "$HOME", "'", '"', "\\"]
    r = box.run("import sys, json; print(json.dumps(sys.argv[1:]))", args=args)
    import json
    assert json.loads(r.text) == args, r
    r = box.exec("/usr/bin/python3", "-c",
                 "import sys, json; print(json.dumps(sys.argv[1:]))", *args)
    assert json.loads(r.text) == args, r


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "USR1"])
def test_signals_are_forwarded(box, name):
    p = box.start("exec", "--tier", box.tier, "--", "sh", "-c",
                  f"trap 'echo got; exit 5' {name}; echo ready; "
                  "while :; do sleep 0.05; done")
    try:
        assert p.stdout.readline() == b"ready\n"
        p.send_signal(getattr(signal, "SIG" + name))
        out, err = p.communicate(timeout=30 * karzer.SLOW)
        assert (out, p.returncode) == (b"got\n", 5), (out, err, p.returncode)
    finally:
        karzer.end(p)


def test_a_reader_that_goes_away_ends_the_run(box):
    p = box.start("exec", "--tier", box.tier, "--", "yes")
    try:
        p.stdout.read(1000)
        p.stdout.close()
        assert karzer.wait_until(lambda: p.poll() is not None, 10)
    finally:
        p.kill()
        p.wait()
        p.stderr.close()


def test_a_reader_that_pauses_loses_nothing(box):
    p = box.start("exec", "--tier", box.tier, "--output", "64M", "--",
                  "/usr/bin/python3", "-I", "-S", "-c",
                  "import os\nfor i in range(40): os.write(1, bytes([i]) * (1 << 20))")
    try:
        time.sleep(0.5)
        out, _ = p.communicate(timeout=60 * karzer.SLOW)
        assert out == b"".join(bytes([i]) * (1 << 20) for i in range(40))
    finally:
        karzer.end(p)


def test_control_sequences_are_shown_visibly_on_a_terminal(box):
    """Only colour passes; a title or clipboard sequence does not."""
    master, slave = os.openpty()
    try:
        p = subprocess.Popen(
            box.command("exec", "--tier", box.tier, "--", "printf",
                        r"\033[31mred\033[0m\033]0;evil\007\033]52;c;eA==\007end\n"),
            stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
            env=box.user.env, cwd=box.dir)
        p.wait(timeout=60)
        os.close(slave)
        slave = -1
        seen = b""
        try:
            while chunk := os.read(master, 4096):
                seen += chunk
        except OSError:
            pass
        assert b"\x1b[31mred\x1b[0m" in seen, seen
        assert b"\x1b]" not in seen and b"\x07" not in seen, seen
        assert b"evil" in seen and b"end" in seen, seen
    finally:
        os.close(master)
        if slave >= 0:
            os.close(slave)


def test_output_of_a_child_that_outlives_the_program_is_drained_not_awaited(box):
    r = box.shell("(sleep 100; echo late) & echo now")
    assert r.text == "now\n" and r.status == "ok", r
    assert r.usage["wall_ms"] < 20000
