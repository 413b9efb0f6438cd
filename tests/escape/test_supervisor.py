"""What no program inside can show by itself: what a cell takes from its caller
while it runs, and what becomes of engine and holder.

Of the catalogue's lines 49 to 60. Deaths of engine and holder, floods and full
disks are in tests/robust and in tests/tier: test_end, test_crash, test_stdio.
"""
import os
import signal
import subprocess
import time

import pytest

import karzer

LIBC = ("import ctypes, os, signal, time\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "libc.sigqueue.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p]\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [40])\n"
        "attr = (ctypes.c_long * 8)(0, 10, 4096)\n"
        "def inotify(n): return libc.inotify_init1(0) >= 0\n"
        "def signals(n): return libc.sigqueue(os.getpid(), 40, None) == 0\n"
        "def queue(n):\n"
        "    q = libc.syscall(240, b'kt-%d-%d' % (os.getpid(), n), 0o102, 0o600, attr)\n"
        "    return q >= 0 and libc.syscall(241, b'kt-%d-%d' % (os.getpid(), n)) == 0\n")
TAKE = ("n = 0\n"
        "while n < 300000 and {what}(n): n += 1\n"
        "print('took', n, flush=True)\n"
        "time.sleep(600)\n")
ONE = "print({what}(0))\n"
PYTHON = ("/usr/bin/python3", "-I", "-S", "-c")


@pytest.mark.parametrize("what", [
    pytest.param("inotify", marks=pytest.mark.kernel), "signals", "queue"])
def test_what_the_kernel_counts_for_a_user_is_not_all_taken(box, what):
    """A cell takes all that it can have; then the caller still gets his."""
    p = box.start("exec", "--tier", box.tier, "--wall", "1h", "--cpu-time", "1h",
                  "--nofile", "4096", "--", *PYTHON, LIBC + TAKE.format(what=what))
    try:
        took = p.stdout.readline().split()
        assert took[0] == b"took" and int(took[1]) > 0, took
        done = subprocess.run(
            [*box.user.prefix, *PYTHON, LIBC + ONE.format(what=what)],
            capture_output=True, env=box.user.env, check=False)
        assert done.stdout == b"True\n", (took, done)
    finally:
        karzer.end(p)


@pytest.mark.kernel
@pytest.mark.guest
def test_a_caller_that_may_be_real_time_does_not_pass_that_on(box):
    """Only there can limits be raised for the caller."""
    user = karzer.User(box.session, f"rt-{box.tier}-{box.user.name}", box.user.uid)
    user.prefix = ["/usr/bin/prlimit", "--rtprio=50", "--nice=40", *user.prefix]
    r = karzer.Box(box.session, user, box.tier).python(
        "import os, resource\n"
        "print(resource.getrlimit(resource.RLIMIT_RTPRIO),\n"
        "      resource.getrlimit(resource.RLIMIT_NICE))\n"
        "for do in (lambda: os.sched_setscheduler(0, 1, os.sched_param(1)),\n"
        "           lambda: os.nice(-5)):\n"
        "    try: do(); print('DONE')\n"
        "    except OSError: pass\n")
    assert r.text == "(0, 0) (0, 0)\n", r


def test_a_run_whose_output_nobody_reads_ends_in_time(box):
    """The engine waits for whoever reads, the clock does not wait for it."""
    r, w = os.pipe()
    p = subprocess.Popen(
        box.command("exec", "--tier", box.tier, "--wall", karzer.seconds(1),
                    "--output-kill", "--", "yes"),
        stdin=subprocess.DEVNULL, stdout=w, stderr=w, env=box.user.env)
    try:
        os.close(w)
        assert karzer.wait_until(lambda: not cells("yes"), 5)
        with open(f"/proc/{p.pid}/status") as f:
            fields = dict(line.split(":", 1) for line in f)
        most = fields.get("VmHWM", "0 kB").split()[0]
        assert int(most) < 16 << 10, f"the engine grew to {most} kB"
    finally:
        os.close(r)
        karzer.end(p)


def cells(name):
    return [pid for pid, uid, _, line in karzer.processes()
            if line.strip() == name and (uid in karzer.SLOT_IDS
                                         or uid == karzer.USER_ID)]


MISCHIEF = ("import ctypes, os, time\n"
            "libc = ctypes.CDLL(None)\n"
            "for i in range(3000):\n"
            "    libc.ptrace(0, 0, 0, 0); libc.syscall(321, 0, 0, 0)\n"
            "    libc.mount(b'x', b'/tmp', b'x', 0, 0)\n"
            "for i in range(100):\n"
            "    try:\n"
            "        with open('/tmp/full', 'wb') as f: f.write(bytes(8 << 20))\n"
            "    except OSError: pass\n"
            "    try:\n"
            "        if os.fork() == 0: os._exit(0)\n"
            "    except OSError: pass\n")


def test_a_cell_cannot_make_the_record_grow(box):
    """However often it does what is recorded."""
    before = sum(f.stat().st_size for f in box.user.state.rglob("*") if f.is_file())
    r = box.python(MISCHIEF, "--disk", "4M", "--pids", "32",
                   "--cpu-time", karzer.seconds(30), "--wall", karzer.seconds(60))
    after = sum(f.stat().st_size for f in box.user.state.rglob("*") if f.is_file())
    assert r.status in ("ok", "disk", "processes"), r
    assert after - before < 128 << 10, r


def test_processor_time_is_not_carried_over_to_the_next_run(box):
    """Of root, the next has the same slot, so groups of the same name."""
    burn = ("import time\n"
            "while time.process_time() < 0.4: pass\n")
    for _ in range(3):
        r = box.python(burn, "--cpu-time", "1s", "--wall", karzer.seconds(20))
        assert r.status == "ok" and 350 <= r.usage["cpu_ms"] < 1000, r


def of_session(box, name):
    path = str(box.session.tree / name)
    return [pid for pid, _, exe, _ in karzer.processes() if exe == path]


@pytest.mark.parametrize("number", [signal.SIGCHLD, signal.SIGURG, signal.SIGCONT,
                                    signal.SIGWINCH], ids=lambda n: n.name)
def test_a_storm_of_signals_changes_nothing(box, number):
    """To engine and holder, faster than either can start a call again."""
    p = box.start("exec", "--tier", box.tier, "--", "sh", "-c",
                  "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.05; done; exit 7")
    try:
        assert p.stdout.read(2) == b"1\n"
        holders = of_session(box, "libexec/karzer/karzer-jail")
        while p.poll() is None:
            for pid in (p.pid, *holders):
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass
        out, err = p.communicate(timeout=30)
        assert (p.returncode, out) == (7, b"2\n3\n4\n5\n6\n7\n8\n"), err
    finally:
        karzer.end(p)


IGNORE = ("import os, signal, sys\n"
          "for n in (1, 2, 13, 15, 17, 20, 28, 34, 50):\n"
          "    signal.signal(n, signal.SIG_IGN)\n"
          "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
          "os.execv(sys.argv[1], sys.argv[1:])\n")


def test_a_caller_that_ignores_and_blocks_every_signal_changes_nothing(box):
    """SIGCHLD among them, without which nobody is told of an end."""
    done = subprocess.run(
        [*box.user.prefix, *PYTHON, IGNORE, box.karzer, "exec", "--tier", box.tier,
         "--", *PYTHON,
         "import os, signal\n"
         "print(signal.pthread_sigmask(signal.SIG_BLOCK, []),\n"
         "      [n for n in (1, 15, 17, 34) if signal.getsignal(n) == signal.SIG_IGN])\n"
         "raise SystemExit(5)\n"],
        stdin=subprocess.DEVNULL, capture_output=True, env=box.user.env,
        check=False, timeout=60 * karzer.SLOW)
    assert (done.returncode, done.stdout) == (5, b"set() []\n"), done


def test_an_engine_that_stands_still_does_not_stop_the_clock(box):
    """The holder has a clock of its own."""
    p = box.start("exec", "--tier", box.tier, "--wall", karzer.seconds(1), "--",
                  "sleep", "76543")
    try:
        assert karzer.wait_until(lambda: cells("sleep 76543"))
        p.send_signal(signal.SIGSTOP)
        assert karzer.wait_until(lambda: not cells("sleep 76543"), 8)
        p.send_signal(signal.SIGCONT)
        assert p.wait(timeout=30 * karzer.SLOW) == 124
    finally:
        karzer.end(p)


@pytest.mark.kernel
@pytest.mark.guest
@pytest.mark.users("root")
@pytest.mark.parametrize("killed", [False, True])
def test_a_frozen_group_is_ended_all_the_same(box, killed):
    """Somebody froze the cell's group; nobody thaws it."""
    p = box.start("exec", "--tier", box.tier, "--wall", karzer.brief(2), "--",
                  "sleep", "54321")
    try:
        assert karzer.wait_until(lambda: cells("sleep 54321"))
        with open(f"/proc/{cells('sleep 54321')[0]}/cgroup") as f:
            group = f.read().split("::")[1].strip()
        with open(f"/sys/fs/cgroup{group}/cgroup.freeze", "w") as f:
            f.write("1")
        if killed:
            for pid in of_session(box, "libexec/karzer/karzer-jail"):
                os.kill(pid, signal.SIGKILL)
            p.kill()
            assert box.exec("true").status == "ok"
        else:
            assert p.wait(timeout=60 * karzer.SLOW) == 124
        assert karzer.wait_until(lambda: not cells("sleep 54321"), 5)
        assert karzer.wait_until(
            lambda: not os.path.exists(f"/sys/fs/cgroup{group}"), 5)
    finally:
        karzer.end(p)


@pytest.mark.users("root")
def test_a_group_that_is_busy_does_not_stop_the_next_run(box):
    """A process of somebody else is in the group of a run that was killed."""
    p = box.start("exec", "--tier", box.tier, "--", "sleep", "43210")
    other = subprocess.Popen(["sleep", "600"])
    try:
        assert karzer.wait_until(lambda: cells("sleep 43210"))
        with open(f"/proc/{cells('sleep 43210')[0]}/cgroup") as f:
            groups = [line.strip().split(":", 2) for line in f if "karzer-" in line]
        if not groups:
            pytest.skip("its limits are no control groups here")
        _, names, group = groups[0]
        where = f"/sys/fs/cgroup/{names}{group}/cgroup.procs"
        with open(where if names else f"/sys/fs/cgroup{group}/cgroup.procs",
                  "w") as f:
            f.write(str(other.pid))
        for pid in of_session(box, "libexec/karzer/karzer-jail"):
            os.kill(pid, signal.SIGKILL)
        p.kill()
        began = time.monotonic()
        assert box.exec("true").status == "ok"
        assert time.monotonic() - began < 20 * karzer.SLOW
    finally:
        other.kill()
        other.wait()
        karzer.end(p)
    assert box.exec("true").status == "ok"
    assert karzer.wait_until(lambda: not karzer.leftovers(box.session), 5)
