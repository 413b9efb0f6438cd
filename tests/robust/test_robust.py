"""Many runs, killed runs, runs at once: nothing is left, and it stays as fast.

The short form runs in `make check`; `make soak` (KARZER_LONG=1) is the long one.
"""
import os
import random
import signal
import statistics
import subprocess
import time

import pytest

import karzer

LONG = os.environ.get("KARZER_LONG") == "1"


def command(box, *argv):
    return box.command("exec", "--tier", box.tier, "--", *argv)


def quiet(box, *argv):
    return subprocess.Popen(
        command(box, *argv), env=box.user.env, cwd=box.dir,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE)


def clean(box, within=2):
    assert karzer.wait_until(lambda: not karzer.leftovers(box.session), within), \
        karzer.leftovers(box.session)


def test_engines_killed_at_random_points_leave_nothing(box):
    """Each gone within a second; only cgroups may wait for the next karzer."""
    rng = random.Random(1)
    for i in range(100 if LONG else 20):
        p = quiet(box, "/usr/bin/python3", "-I", "-S", "-c", "import time; time.sleep(30)")
        time.sleep(rng.random() * 0.06)
        p.kill()
        p.communicate()
    assert karzer.wait_until(lambda: not karzer.leftover_processes(box.session), 1), \
        karzer.leftover_processes(box.session)
    assert box.exec("true").status == "ok"
    clean(box)


def test_engines_and_holders_killed_together_leave_nothing_after_the_next(box):
    rng = random.Random(2)
    jail = str(box.session.tree / "libexec/karzer/karzer-jail")
    for i in range(20 if LONG else 6):
        p = quiet(box, "sleep", "30")
        time.sleep(rng.random() * 0.06)
        for pid, _, exe, _ in karzer.processes():
            if exe == jail:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        p.kill()
        p.communicate()
    assert box.exec("true").status == "ok"
    clean(box, 5)


def test_sixty_four_runs_at_once_all_succeed(box):
    running = [quiet(box, "sh", "-c", f"exit {i}") for i in range(64)]
    ends = [(p.communicate(timeout=120)[1], p.returncode) for p in running]
    assert [end for i, end in enumerate(ends) if end[1] != i] == []
    clean(box)


def test_many_runs_in_a_row_stay_as_fast(box):
    times = []
    for _ in range(1000 if LONG else 150):
        began = time.monotonic()
        done = subprocess.run(command(box, "true"), env=box.user.env, cwd=box.dir,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              check=False, timeout=60)
        times.append(time.monotonic() - began)
        assert done.returncode == 0, done
    part = len(times) // 5
    first, last = statistics.median(times[:part]), statistics.median(times[-part:])
    assert last < first * 1.5 + 0.002, (first, last)
    clean(box)


# Runs its arguments and says the largest memory of that process, in kB. Small
# itself: what a process had before its exec counts.
MEASURE = ("import os, sys\n"
           "pid = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])\n"
           "_, status, usage = os.wait4(pid, 0)\n"
           "print(usage.ru_maxrss, file=sys.stderr)\n"
           "sys.exit(os.waitstatus_to_exitcode(status))\n")


def test_a_cell_that_prints_a_gigabyte_costs_the_engine_little(box):
    size = 1 << 30
    p = subprocess.Popen(
        ["/usr/bin/python3", "-I", "-S", "-c", MEASURE,
         *box.command("exec", "--tier", box.tier, "--output", "1G", "--wall", "60s",
                      "--", "head", "-c", str(size), "/dev/zero")],
        env=box.user.env, cwd=box.dir, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seen = 0
    while chunk := os.read(p.stdout.fileno(), 1 << 20):
        seen += len(chunk)
    _, told = p.communicate(timeout=60)
    assert (p.returncode, seen) == (0, size), told
    assert int(told) < 32 << 10, f"{told} kB"


def test_a_killed_run_frees_its_slot_and_id(box):
    p = quiet(box, "sleep", "30")
    time.sleep(0.2)
    p.kill()
    p.communicate()
    clean(box)
    assert box.exec("true").status == "ok"


@pytest.mark.users("root")
def test_two_state_directories_do_not_disturb_each_other(box):
    """A second karzer of the same user sweeps only what is dead."""
    p = quiet(box, "sleep", "3")
    try:
        env = {"KARZER_STATE": str(box.user.work() / "other")}
        for _ in range(5):
            assert box.cli("exec", "--tier", box.tier, "--", "true",
                           env=env).returncode == 0
        _, err = p.communicate(timeout=30)
        assert p.returncode == 0, err
    finally:
        karzer.end(p)
