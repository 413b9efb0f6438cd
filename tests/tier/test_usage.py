"""Figures of a run: all descendants are in them, also those that hide."""
import pytest

from karzer import SLOW, seconds

BURN = ("import time\n"
        "def burn(s):\n"
        "    end = time.process_time() + s\n"
        "    while time.process_time() < end: pass\n")
DOUBLE_FORK = (
    "import os, sys, time\n"
    "r, w = os.pipe()\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0:\n"
    "        {work}\n"
    "        os.write(w, b'x')\n"
    "        {after}\n"
    "        os._exit(0)\n"
    "    os._exit(0)\n"
    "os.wait()\n"
    "os.close(w)\n"
    "os.read(r, 1)\n")


@pytest.mark.kernel
def test_processor_time_of_double_forked_descendants_counts(box):
    r = box.python(BURN + DOUBLE_FORK.format(work="burn(0.4)", after="time.sleep(60)"))
    assert r.status == "ok", r
    assert r.usage["cpu_ms"] >= 380, r


def test_processor_time_of_descendants_runs_out_too(box):
    r = box.python(BURN + DOUBLE_FORK.format(work="burn(3600)", after="pass"),
                   "--cpu-time", seconds(0.6), "--wall", seconds(20))
    assert (r.status, r.detail) == ("timeout", "cpu"), r


def test_processor_time_of_many_children_is_summed(box):
    r = box.python(
        BURN + "import os\n"
        "for i in range(4):\n"
        "    if os.fork() == 0: burn(3600)\n"
        "time.sleep(3600)\n",
        "--cpu-time", seconds(0.8), "--cpu", "2", "--wall", seconds(30))
    assert (r.status, r.detail) == ("timeout", "cpu"), r


def test_short_lived_children_do_not_escape_processor_time(box):
    r = box.python(
        BURN + "import os\n"
        "while True:\n"
        "    if os.fork() == 0:\n"
        "        burn(0.01); os._exit(0)\n"
        "    os.wait()\n",
        "--cpu-time", seconds(0.8), "--wall", seconds(30))
    assert (r.status, r.detail) == ("timeout", "cpu"), r


def test_memory_of_double_forked_descendants_counts(box):
    r = box.python(
        DOUBLE_FORK.format(work="b = bytearray(60 << 20)", after="time.sleep(0.3)")
        + "time.sleep(0.3)\n")
    assert r.status == "ok", r
    peak = r.usage["peak_memory_bytes"]
    assert peak is None or peak >= 60 << 20, r


def test_a_figure_is_a_number_or_null_and_never_zero_by_ignorance(box):
    r = box.python("x = bytearray(10 << 20)")
    u = r.usage
    assert u["peak_memory_bytes"] is None or u["peak_memory_bytes"] >= 10 << 20
    assert u["cpu_ms"] is None or 1 <= u["cpu_ms"] < 5000 * SLOW
    assert u["peak_processes"] is None or 1 <= u["peak_processes"] <= 8
    assert u["net_bytes_in"] in (0, None) and u["net_bytes_out"] in (0, None)
    assert u["wall_ms"] >= 1 and r.timing["run_us"] > 0


def test_wall_time_is_the_programs(box):
    r = box.run("import time; time.sleep(0.3)")
    assert 300 <= r.usage["wall_ms"] < 300 + 2000 * SLOW, r


def test_disk_bytes_are_what_is_in_scratch(box):
    r = box.python("open('/tmp/a', 'wb').write(bytes(5 << 20))\n"
                   "open('/tmp/b', 'wb').write(bytes(3 << 20))\n")
    disk = r.usage["disk_bytes"]
    assert disk is None or 8 << 20 <= disk < 10 << 20, r


def test_effective_names_the_tier_and_every_mechanism(box):
    r = box.run("1")
    assert r.effective["tier"] == box.tier
    assert len(r.effective["mechanisms"]) == 16
    missing = [k for k, v in r.effective["mechanisms"].items() if v is None]
    assert not set(missing) & {"users", "files", "processes", "network",
                               "syscalls", "memory", "pids", "cpu-time", "disk"}


@pytest.mark.users("root")
def test_root_never_runs_the_cell_as_an_id_of_the_host(box):
    """While it runs, its processes have a host id of their own, unused."""
    import karzer
    p = box.start("exec", "--tier", box.tier, "--", "sleep", "30")
    try:
        def ids():
            return {uid for _, uid, _, line in karzer.processes()
                    if line.startswith("sleep 30")}
        assert karzer.wait_until(ids)
        assert all(uid in karzer.SLOT_IDS for uid in ids()), ids()
    finally:
        karzer.end(p)


@pytest.mark.users("root")
def test_two_runs_of_root_at_once_have_different_ids(box):
    import karzer
    a = box.start("exec", "--tier", box.tier, "--", "sleep", "31")
    b = box.start("exec", "--tier", box.tier, "--", "sleep", "31")
    try:
        def ids():
            return [uid for _, uid, _, line in karzer.processes()
                    if line.startswith("sleep 31")]
        assert karzer.wait_until(lambda: len(ids()) == 2)
        assert len(set(ids())) == 2
    finally:
        karzer.end(a)
        karzer.end(b)
