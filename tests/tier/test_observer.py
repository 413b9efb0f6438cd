"""Refused system calls: answered, recorded with exact numbers, and bounded."""
import json
import os
import signal
import subprocess
import time

import pytest

import karzer
from karzer import brief, lack, seconds

CALL = ("import ctypes, errno, os, sys\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def call(nr, *args):\n"
        "    r = libc.syscall(ctypes.c_long(nr), *[ctypes.c_long(a) for a in args])\n"
        "    return 0 if r >= 0 else ctypes.get_errno()\n")
MOUNT, PTRACE, SOCKET, KILL, GETPID = 165, 101, 41, 62, 39
CLONE3, IO_URING_SETUP, OPENAT2 = 435, 425, 437
X32 = 0x40000000


def denied(r, call):
    return [e for e in r.events("call.denied") if e["call"] == call]


def observed(box):
    """Skips where this host lets nobody listen."""
    r = box.run("0")
    if r.effective["mechanisms"]["observer"] is None:
        lack("observer", "another listens around us")


@pytest.mark.kernel
def test_a_refused_call_is_recorded_with_what_matters(box):
    observed(box)
    r = box.python(CALL + f"print(call({MOUNT}, 0, 0, 0, 4096, 0),"
                          f" call({PTRACE}, 16, 1, 0, 0),"
                          f" call({SOCKET}, 17, 0x80003, 768))\n")
    assert r.text.split()[:2] == ["1", "1"], r
    mount, = denied(r, "mount")
    assert mount["errno"] == "EPERM" and mount["count"] == 1
    assert mount["args"] == {"flags": "MS_BIND"}
    assert mount["program"].startswith("/usr/bin/python3"), mount
    assert mount["thread"].startswith("python3"), mount
    assert mount["text"].startswith("python3"), mount
    assert "mount(flags=MS_BIND)" in mount["text"], mount
    ptrace, = denied(r, "ptrace")
    assert ptrace["args"] == {"request": "PTRACE_ATTACH", "pid": "1"}
    socket, = denied(r, "socket")
    assert socket["args"]["family"] == "AF_PACKET"
    assert socket["args"]["type"] == "SOCK_RAW"
    kept = [e for e in box.log("--kind", "call.denied")
            if e["run"] == r.id]
    assert {e["call"] for e in kept} == {"mount", "ptrace", "socket"}


def test_calls_of_another_kind_of_program_are_recorded(box):
    observed(box)
    r = box.python(CALL + f"print(call({X32 | GETPID}), call(9999))\n")
    assert r.text == "38 38\n", r
    assert denied(r, "x32")[0]["args"]["number"] == str(GETPID)
    assert denied(r, "unknown")[0]["args"]["number"] == "9999"


def test_what_ordinary_programs_try_is_not_recorded(box):
    r = box.python(CALL + f"print(call({CLONE3}, 0, 0), call({IO_URING_SETUP}, 1, 0),"
                          f" call({OPENAT2}, -100, 0, 0, 0))\n"
                   "import asyncio, subprocess, threading, multiprocessing as m\n"
                   "threading.Thread(target=print).start()\n"
                   "subprocess.run(['ps', 'ax'], stdout=subprocess.DEVNULL)\n"
                   "p = m.get_context('fork').Process(target=print)\n"
                   "p.start(); p.join()\n")
    assert r.status == "ok" and r.text.startswith("38 38 38"), r
    assert r.events("call.denied") == [], r


def test_many_are_few_records_and_an_exact_number(box):
    observed(box)
    r = box.python(CALL + f"print({{call({MOUNT}, 0, 0, 0, 0, 0)"
                          " for i in range(1200)})\n", "--wall", seconds(50),
                   "--cpu-time", seconds(50))
    assert r.text == "{1}\n", r
    events = denied(r, "mount")
    assert [e["count"] for e in events] == [1, 2, 3, 1200], events
    assert len(r.events("call.denied")) == 4, r


def test_a_person_is_told_in_one_line(box):
    observed(box)
    script = CALL + (f"[call({MOUNT}, 0, 0, 0, 0, 0) for i in range(7)];"
                     f"call({PTRACE}, 16, 1)\n")
    done = box.cli("exec", "--tier", box.tier, "--", "/usr/bin/python3", "-c",
                   script)
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1, done
    assert "refused system calls:" in lines[0] and "mount 7 times" in lines[0]
    assert "ptrace" in lines[0] and "karzer log --run" in lines[0]


def test_a_name_that_the_cell_chose_is_only_shown(box):
    """Bytes that are no text, and an escape sequence."""
    observed(box)
    script = CALL + (f"libc.prctl(15, b'\\xff\\x1b]2;x\\x07\\n\"', 0, 0, 0)\n"
                     f"call({MOUNT}, 0, 0, 0, 0, 0)\n")
    r = box.python(script)
    event, = denied(r, "mount")
    assert event["thread"] == "?\x1b]2;x\x07\n\"", event
    done = box.cli("log", "--run", r.id)
    assert done.returncode == 0 and b"\x1b" not in done.stdout, done


FLOOD = CALL + (
    "import threading\n"
    "def flood():\n"
    f"    while True: call({MOUNT}, 0, 0, 0, 0, 0)\n"
    "print('started', flush=True)\n"
    "for i in range(8): threading.Thread(target=flood, daemon=True).start()\n")


def holders(box):
    return [pid for pid, _, exe, _ in karzer.processes()
            if exe == str(box.session.tree / "libexec/karzer/karzer-jail")]


def used(pid):
    """Processor seconds and resident bytes."""
    with open(f"/proc/{pid}/stat") as f:
        at = f.read().rsplit(")", 1)[1].split()
    ticks = os.sysconf("SC_CLK_TCK")
    return (int(at[11]) + int(at[12])) / ticks, int(at[21]) * 4096


def test_a_flood_slows_only_itself(box):
    """Holder and engine need no more than a little of a processor, and no more
    memory, and the wall time is kept."""
    observed(box)
    p = box.start("exec", "--json", "--tier", box.tier, "--wall",
                  "24s" if karzer.GUEST else "4s", "--cpu-time", seconds(50), "--",
                  "/usr/bin/python3", "-c", FLOOD + "threading.Event().wait()\n")
    try:
        assert karzer.wait_until(lambda: holders(box), 10)
        time.sleep(1 * min(karzer.SLOW, 4))
        watched = [*holders(box), p.pid] if box.user.root else holders(box)
        before, begin = [used(pid) for pid in watched], time.monotonic()
        time.sleep(1.5 * min(karzer.SLOW, 4))
        after, took = [used(pid) for pid in watched], time.monotonic() - begin
        out, _ = p.communicate(timeout=30 * karzer.SLOW)
    finally:
        karzer.end(p)
    for b, a in zip(before, after):
        assert a[0] - b[0] < 0.25 * took * min(karzer.SLOW, 2), (b, a, took)
        assert a[1] - b[1] < 1 << 20, (b, a)
    r = json.loads(out)
    assert (r["status"], r["detail"]) == ("timeout", "wall"), r
    events = [e for e in r["boundary"] if e["kind"] == "call.denied"]
    assert len(events) == 4 and events[-1]["count"] > 1000, events
    # 1,024 at once and 2,000 a second, over the time that it lived.
    assert events[-1]["count"] < 1100 + 2.1 * r["usage"]["wall_ms"], r


def test_in_a_flood_limits_are_kept(box):
    observed(box)
    r = box.python(FLOOD + "import time\ntime.sleep(0.3)\n"
                   "x = bytearray(512 << 20)\n", "--mem", "96M",
                   "--wall", seconds(50))
    assert r.status == "memory" or b"MemoryError" in r.stderr, r
    r = box.python(FLOOD + "while True: pass\n", "--cpu-time", brief(1),
                   "--wall", seconds(50))
    assert (r.status, r.detail) == ("timeout", "cpu"), r


@pytest.mark.kernel
def test_when_the_holder_dies_so_does_the_cell_and_no_call_is_let_through(box):
    observed(box)
    p = box.start("exec", "--json", "--tier", box.tier, "--", "/usr/bin/python3",
                  "-c", CALL + "print('started', flush=True)\n"
                  f"while call({MOUNT}, 0, 0, 0, 0, 0) != 0: pass\n"
                  "print('through', flush=True)\n")
    try:
        assert karzer.wait_until(lambda: holders(box), 10)
        time.sleep(0.3 * karzer.SLOW)
        for pid in holders(box):
            os.kill(pid, signal.SIGKILL)
        out, _ = p.communicate(timeout=30 * karzer.SLOW)
    finally:
        karzer.end(p)
    r = json.loads(out)
    assert r["status"] == "internal", r
    assert "through" not in r["stdout"], r
    assert karzer.wait_until(lambda: not [
        line for _, _, _, line in karzer.processes() if "'through'" in line], 5)


@pytest.mark.kernel
def test_where_another_listens_calls_are_refused_and_not_recorded(box):
    """Where memory is a sum that needs a listener, nothing runs."""
    done = subprocess.run(
        [*box.user.prefix, str(box.session.helper / "listens"), box.karzer,
         "exec", "--json", "--tier", box.tier, "--", "/usr/bin/python3", "-c",
         CALL + f"print(call({MOUNT}, 0, 0, 0, 0, 0), call({PTRACE}, 16, 1))\n"],
        capture_output=True, env=box.user.env, cwd=box.dir,
        timeout=60 * karzer.SLOW, check=False)
    r = karzer.Result(done)
    if r.status == "unavailable" and not box.user.root:
        assert "listener" in r.message, r
        return
    assert r.status == "ok" and r.text == "1 1\n", r
    assert r.effective["mechanisms"]["observer"] is None
    assert r.effective["mechanisms"]["syscalls"] == "seccomp allow list"
    assert r.events("call.denied") == []


def test_a_cell_inside_a_cell_is_not_recorded_twice(box):
    """A program's own filter may refuse more, and is not told."""
    observed(box)
    r = box.python(CALL + (
        "import struct\n"
        "code = b''.join(struct.pack('HBBI', *i) for i in ["
        "(0x20, 0, 0, 0), (0x15, 0, 1, 165), (6, 0, 0, 0x50000 | 95),"
        " (6, 0, 0, 0x7fff0000)])\n"
        "buf = ctypes.create_string_buffer(code)\n"
        "prog = struct.pack('HxxxxxxQ', 4, ctypes.addressof(buf))\n"
        "libc.prctl(38, 1, 0, 0, 0)\n"
        "libc.prctl(22, 2, ctypes.c_char_p(prog), 0, 0)\n"
        f"print(call({MOUNT}, 0, 0, 0, 0, 0))\n"))
    if r.text == "95\n":
        assert denied(r, "mount") == [], r
    else:
        assert r.text == "1\n" and len(denied(r, "mount")) == 1, r
