"""What reviews found: each is an attack, or a surprise, that must not come back."""
import json

import pytest

import karzer

CHANNEL = ("import os\n"
           "fds = [int(f) for f in os.listdir('/proc/self/fd')\n"
           "       if os.path.exists('/proc/self/fd/' + f) or True]\n"
           "def sockets():\n"
           "    for f in fds:\n"
           "        try:\n"
           "            if os.readlink(f'/proc/self/fd/{f}').startswith('socket:'):\n"
           "                yield f\n"
           "        except OSError:\n"
           "            pass\n")


def workspace(box):
    tree = box.user.work() / "ws"
    tree.mkdir()
    box.user.own(tree)
    return tree


def test_a_link_that_the_cell_plants_does_not_lead_out_elsewhere(box):
    tree = workspace(box)
    victim = box.user.work() / "victim"
    victim.mkdir()
    box.user.own(victim)
    r = box.shell(f"ln -s {victim} {tree}/report; echo x > ~/report",
                  "--workspace", f"{tree}:rw", "--out", f"report:{tree}/report")
    assert list(victim.iterdir()) == [], r
    assert (tree / "report").read_text() == "x\n", r
    assert not (tree / "report").is_symlink()


def test_no_link_below_a_workspace_is_followed_out(box):
    tree = workspace(box)
    victim = box.user.work() / "victim"
    victim.mkdir()
    box.user.own(victim)
    (tree / "sub").symlink_to(victim)
    r = box.shell("echo ran; echo x > ~/r", "--workspace", f"{tree}:rw",
                  "--out", f"r:{tree}/sub/r")
    assert r.status in ("denied", "unavailable") and r.text == "", r
    assert list(victim.iterdir()) == []


def test_a_place_that_cannot_take_a_file_is_told_before_the_run(box):
    r = box.shell("echo ran", "--out", f"r:{box.user.work()}/nodir/r")
    assert (r.rc, r.text) == (125, ""), r


def test_what_did_not_come_out_is_no_success(box):
    r = box.shell("echo ran", "--out", f"nothing:{box.user.work()}/r")
    assert (r.rc, r.status, r.text) == (125, "ok", "ran\n"), r


def test_no_workspace_holds_the_record(box):
    for mode in ("ro", "rw"):
        r = box.shell("echo ran", "--workspace",
                      f"{box.user.state.parent}:{mode}")
        assert (r.rc, r.status, r.text) == (125, "denied", ""), r


def test_nonsense_on_the_drivers_channel_does_not_change_the_end(box):
    r = box.run(CHANNEL + "for f in sockets(): os.write(f, b'nonsense' * 4)\n"
                "print('after')\nraise SystemExit(3)\n")
    assert (r.status, r.exit_code, r.text) == ("error", 3, "after\n"), r


def test_many_small_values_are_bounded(box):
    r = box.run("for i in range(200000):\n    display(1)\nprint('end')\n",
                "--cpu-time", "60s", timeout=90)
    assert len(r.results) < 40000 and "dropped" in r.message, r.message


def test_deep_json_stays_text(box):
    r = box.run("class A:\n    def _repr_json_(self):\n        v = []\n"
                "        for _ in range(300):\n            v = [v]\n"
                "        return v\nA()")
    value = r.results[0].get("application/json")
    assert value is None or isinstance(value, str), r
    json.dumps(r.results)


def test_bytes_that_are_no_text_take_no_result_away(box):
    r = box.exec(b"\xff\xfe")
    assert r.rc == 127 and r.status == "error", r
    r = box.shell(r"cd; mkdir t; printf x > t/$(printf '\377')", "--out",
                  f"t:{box.user.work()}/t")
    assert r.status == "ok", r


def test_refused_files_do_not_flood_the_record(box):
    r = box.shell("cd; mkdir t; for i in $(seq 300); do mkfifo t/$i; done",
                  "--pids", "200", "--out", f"t:{box.user.work()}/t", timeout=90)
    assert 90 < len(r.events("file.refused")) < 110, r


def test_printed_lines_are_kept_when_time_runs_out(box):
    r = box.run("import time\nprint('line')\ntime.sleep(3600)\n",
                "--wall", karzer.seconds(2))
    assert (r.status, r.text) == ("timeout", "line\n"), r
    assert "--wall" in r.message


@pytest.mark.parametrize("mode", ["ro", "rw"])
def test_a_private_workspace_is_the_programs_own(box, mode):
    tree = workspace(box)
    (tree / "f").write_text("mine\n")
    box.user.own(tree / "f")
    tree.chmod(0o700)
    (tree / "f").chmod(0o600)
    r = box.shell("cat f", "--workspace", f"{tree}:{mode}")
    assert r.text == "mine\n", r


SOCKETS = ("import socket, time\n"
           "held, sent = [], 0\n"
           "s = socket.socket()\n"
           "s.bind(('127.0.0.1', 0))\n"
           "s.listen(64)\n"
           "try:\n"
           "    for _ in range(100):\n"
           "        a = socket.create_connection(s.getsockname(), 2)\n"
           "        held.append((a, s.accept()))\n"
           "        a.setblocking(False)\n"
           "        try:\n"
           "            while True:\n"
           "                sent += a.send(b'x' * 65536)\n"
           "        except BlockingIOError:\n"
           "            pass\n"
           "except OSError:\n"
           "    pass\n"
           "time.sleep(0.5)\n"
           "print(sent)\n")


def test_buffers_of_tcp_sockets_are_memory(box):
    r = box.run(SOCKETS, "--mem", "32M", "--disk", "1M", "--nofile", "400",
                "--wall", karzer.seconds(20))
    sent = int(r.text or 0) >> 20
    assert r.status == "memory" or sent < 64, r


DATAGRAMS = SOCKETS.replace("""s = socket.socket()
s.bind(('127.0.0.1', 0))
s.listen(64)
""", "BUFFERS = (socket.SO_SNDBUF, socket.SO_RCVBUF)\n").replace("""\
        a = socket.create_connection(s.getsockname(), 2)
        held.append((a, s.accept()))
""", """\
        a, s = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in 'as')
        s.bind(('127.0.0.1', 0))
        a.connect(s.getsockname())
        held.append((a, s))
        for one in (a, s):
            for which in BUFFERS:
                one.setsockopt(socket.SOL_SOCKET, which, 4 << 20)
""").replace("while True", "for _ in range(400)").replace("65536", "32768")
PAIRS = DATAGRAMS.replace("""\
        a, s = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in 'as')
        s.bind(('127.0.0.1', 0))
        a.connect(s.getsockname())
""", "        a, s = socket.socketpair()\n")
# Of datagrams nobody says how many were dropped: the peak is what was held.
HELD = 250 << 20


@pytest.mark.parametrize("code", [DATAGRAMS, PAIRS], ids=["udp", "unix"])
def test_no_socket_holds_more_than_memory_allows(box, code):
    """However large its buffers were asked for."""
    r = box.run(code, "--mem", "32M", "--disk", "1M", "--nofile", "400",
                "--wall", karzer.seconds(20))
    assert r.status in ("memory", "ok"), r
    assert r.status == "memory" or r.text.strip().isdigit(), r
    peak = r.usage["peak_memory_bytes"]
    assert peak is None or peak < HELD, r
    if code is PAIRS and r.status == "ok":
        assert int(r.text) < HELD, r


@pytest.mark.users("user")
def test_a_workspace_that_its_caller_cannot_list_is_no_empty_one(box):
    work = box.user.work()
    work.chmod(0o300)
    done = box.cli("exec", "--tier", box.tier, "--workspace", f"{work}:ro",
                   "--", "true")
    work.chmod(0o700)
    assert done.returncode == 125 and b"--workspace" in done.stderr, done
