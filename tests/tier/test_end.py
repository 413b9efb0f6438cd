"""When a run is over everything of it is dead; also when its client is killed."""
import os
import signal
import time

import pytest

import karzer

HIDE = ("import os, signal, time\n"
        "for s in range(1, 65):\n"
        "    if s not in (9, 19, 32, 33):\n"
        "        try: signal.signal(s, signal.SIG_IGN)\n"
        "        except (OSError, ValueError): pass\n"
        "for i in range(5):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork(): os._exit(0)\n"
        "        os.execv('/usr/bin/sleep', ['sleep', '98765'])\n"
        "print('started', flush=True)\n")


def hidden():
    return [p for p, _, _, line in karzer.processes() if line.startswith("sleep 98765")]


@pytest.mark.kernel
def test_nothing_of_a_run_is_alive_when_its_result_comes(box):
    for _ in range(5):
        r = box.python(HIDE + "time.sleep(0.1)\n")
        assert r.status == "ok", r
        assert hidden() == []


@pytest.mark.kernel
def test_nothing_survives_a_sigkill_of_the_client(box):
    for delay in (0.0, 0.01, 0.1):
        p = box.start("exec", "--tier", box.tier, "--", "/usr/bin/python3", "-I",
                      "-S", "-c", HIDE + "time.sleep(3600)\n")
        try:
            assert p.stdout.readline() == b"started\n"
            time.sleep(delay)
            karzer.end(p)
            assert karzer.wait_until(lambda: not hidden(), 1), hidden()
            assert karzer.wait_until(
                lambda: not karzer.leftover_processes(box.session), 1), \
                karzer.leftover_processes(box.session)
        finally:
            karzer.end(p)


def test_a_kill_at_any_moment_of_the_start_leaves_nothing(box):
    for i in range(12):
        p = box.start("exec", "--tier", box.tier, "--", "sleep", "98765")
        time.sleep(0.002 * i * karzer.SLOW)
        karzer.end(p)
    assert karzer.wait_until(lambda: not hidden(), 2), hidden()
    assert karzer.wait_until(
        lambda: not karzer.leftover_processes(box.session), 2)


def test_what_killing_client_and_holder_leaves_the_next_run_removes(box):
    p = box.start("exec", "--tier", box.tier, "--", "sleep", "98765")
    try:
        assert karzer.wait_until(hidden)
        holders = [pid for pid, _, exe, _ in karzer.processes()
                   if exe == str(box.session.tree / "libexec/karzer/karzer-jail")]
        for pid in holders:
            os.kill(pid, signal.SIGKILL)
        karzer.end(p)
        r = box.run("print('next')")
        assert r.text == "next\n", r
        assert karzer.wait_until(lambda: not hidden(), 2), hidden()
        assert karzer.wait_until(
            lambda: not [l for l in karzer.leftovers(box.session)
                         if l.startswith("cgroup")], 2)
    finally:
        karzer.end(p)


def test_a_killed_holder_gives_an_honest_status(box):
    p = box.start("exec", "--json", "--tier", box.tier, "--", "sleep", "98765")
    try:
        assert karzer.wait_until(hidden)
        for pid, _, exe, _ in karzer.processes():
            if exe == str(box.session.tree / "libexec/karzer/karzer-jail"):
                os.kill(pid, signal.SIGKILL)
        out, err = p.communicate(timeout=30 * karzer.SLOW)
        import json
        assert json.loads(out)["status"] == "internal", (out, err)
        assert p.returncode == 125
    finally:
        karzer.end(p)
    assert box.run("1").status == "ok"


def test_a_second_interrupt_ends_a_program_that_ignores_the_first(box):
    p = box.start("exec", "--json", "--tier", box.tier, "--", "sh", "-c",
                  "trap '' INT TERM; echo ready >&2; while :; do sleep 0.1; done")
    try:
        time.sleep(1.0 * karzer.SLOW)
        p.send_signal(signal.SIGINT)
        time.sleep(0.3)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=30 * karzer.SLOW)
        import json
        assert json.loads(out)["status"] == "killed", (out, err)
        assert p.returncode == 137
    finally:
        karzer.end(p)
