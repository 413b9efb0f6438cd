"""An ordinary user under systemd: his holders are started in a delegated scope
by a spawner that is parked there once per login. In the guest that boots it.
"""
import os
import pathlib
import signal
import subprocess

import pytest

import karzer

UID = 1000
RUNTIME = pathlib.Path(f"/run/user/{UID}")
SOCKET = RUNTIME / "karzer" / "scope"
pytestmark = [pytest.mark.guest,
              pytest.mark.skipif(os.environ.get("KARZER_BOOT") != "systemd",
                                 reason="needs the boot with systemd")]
IDS = ["/usr/bin/setpriv", "--reuid", str(UID), "--regid", str(UID),
       "--clear-groups", "--"]
ASK = ("import socket, struct, sys\n"
       "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
       f"s.connect({str(SOCKET)!r})\n"
       "null = [open('/dev/null').fileno()] * 4\n"
       "try:\n"
       "    socket.send_fds(s, [struct.pack('I4096s', 1, b'/bin/true')], null)\n"
       "except OSError: pass\n"
       "print(s.recv(256)[4:].rstrip(b'\\0').decode())\n")


@pytest.fixture(scope="module")
def user(session):
    """Of a session; it is logged in until the last test."""
    user = karzer.User(session, "session", UID)
    user.prefix = ["/usr/bin/su", "-s", "/bin/sh", "-c", 'exec "$@"', "--", "user",
                   "sh"]
    subprocess.run(["systemctl", "start", f"user@{UID}.service"], check=True)
    yield user
    subprocess.run(["systemctl", "stop", f"user@{UID}.service"], check=True)


@pytest.fixture
def cell(user, session):
    return karzer.Box(session, user, "container")


def spawners():
    return [pid for pid, _, exe, _ in karzer.processes()
            if exe.endswith("/karzer-scope")]


def group(pid):
    with open(f"/proc/{pid}/cgroup") as f:
        return f.read().strip().removeprefix("0::")


def how(cell):
    r = cell.run("print(1)")
    assert (r.status, r.text) == ("ok", "1\n"), r
    m = r.effective["mechanisms"]
    return [m[name] for name in ("memory", "pids", "cpu", "cpu-time")]


def test_his_cells_have_control_groups(cell):
    assert how(cell) == ["cgroup v2"] * 3 + ["sampled cgroup counter"]


def test_the_price_is_paid_once_per_login(cell):
    how(cell)
    before = spawners()
    assert len(before) == 1 and group(before[0]).endswith("/parked"), before
    assert how(cell)[0] == "cgroup v2" and spawners() == before


def test_first_runs_at_once_park_one_spawner(cell):
    for pid in spawners():
        os.kill(pid, signal.SIGKILL)
    runs = [cell.start("run", "print(1)") for _ in range(3)]
    try:
        for p in runs:
            assert p.communicate(timeout=60 * karzer.SLOW)[0] == b"1\n"
        assert len(spawners()) == 1
    finally:
        for p in runs:
            karzer.end(p)


def test_after_its_kill_the_next_run_parks_another_and_the_scope_is_gone(cell):
    how(cell)
    old = spawners()[0]
    scope = pathlib.Path("/sys/fs/cgroup" + group(old)).parent
    os.kill(old, signal.SIGKILL)
    assert how(cell)[0] == "cgroup v2" and spawners() != [old]
    assert karzer.wait_until(lambda: not scope.exists())


def test_what_a_kill_of_all_leaves_the_next_run_removes(cell):
    p = cell.start("exec", "--tier", "container", "--", "/bin/sh", "-c",
                   "echo started; exec sleep 86423")
    try:
        assert p.stdout.readline() == b"started\n"
        for pid, _, exe, _ in karzer.processes():
            if exe.endswith(("/karzer-scope", "/karzer-jail", "/karzer")):
                os.kill(pid, signal.SIGKILL)
        karzer.end(p)
        how(cell)
        assert karzer.wait_until(lambda: not [
            line for _, _, _, line in karzer.processes() if "86423" in line])
    finally:
        karzer.end(p)


def test_who_is_another_or_confined_gets_no_holder(cell):
    how(cell)
    python = ["/usr/bin/python3", "-I", "-S", "-c", ASK]
    ways = {"another user": [],
            "it is confined otherwise": [*cell.user.prefix, "/usr/bin/setpriv",
                                         "--no-new-privs", "--"],
            "another user namespace": [*IDS, "/usr/bin/unshare", "-U",
                                       f"--map-user={UID}"],
            "another mnt namespace": ["/usr/bin/unshare", "-m", *IDS]}
    for why, prefix in ways.items():
        done = subprocess.run([*prefix, *python], capture_output=True, text=True,
                              env=cell.user.env, check=False)
        assert why in done.stdout, (why, done)


def test_a_cell_cannot_reach_it(cell):
    for tier in ("process", "container"):
        box = karzer.Box(cell.session, cell.user, tier)
        r = box.python(ASK)
        assert r.status == "error" and b"No such file" in r.stderr, r


def test_at_logout_all_of_it_ends(cell):
    p = cell.start("exec", "--tier", "container", "--", "/bin/sh", "-c",
                   "echo started; exec sleep 86424")
    try:
        assert p.stdout.readline() == b"started\n"
        subprocess.run(["systemctl", "stop", f"user@{UID}.service"], check=True)
        assert karzer.wait_until(lambda: not spawners() and not [
            line for _, _, exe, line in karzer.processes()
            if exe.endswith("/karzer-jail") or line.startswith("sleep 86424")])
    finally:
        karzer.end(p)
