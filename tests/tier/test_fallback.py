"""The process tier where no namespace can be had: Landlock, a stricter filter,
and a control group as the only handle on all processes, or not even that.

Each test runs as root, as an ordinary user with control groups of his own, as
one who has only that of pids, so that memory is a sampled sum, and as both
where no control group is mounted (bare): then the holder is asked about forks.
"""
import ctypes
import json
import os
import signal
import socket
import subprocess

import pytest

import conftest
import groups
import karzer
from karzer import seconds

PR_SET_CHILD_SUBREAPER = 36
LOOK = ("import os, signal, sys, time\n"
        "def others(file, word):\n"
        "    found = []\n"
        "    for p in os.listdir('/proc'):\n"
        "        try:\n"
        "            if p.isdigit() and word in open(f'/proc/{p}/{file}').read():\n"
        "                found.append(int(p))\n"
        "        except OSError: pass\n"
        "    return found\n")
LOOSE = (LOOK +
         "for i in range(4):\n"
         "    if os.fork() == 0:\n"
         "        os.setsid()\n"
         "        if os.fork(): os._exit(0)\n"
         "        os.execv('/usr/bin/sleep', ['sleep', '87654'])\n"
         "for i in range(4): os.wait()\n"
         "while len(others('cmdline', 'sleep\\0' + '87654')) < 4: time.sleep(0.01)\n"
         "print('started', flush=True)\n")

def loose():
    return [p for p, _, _, line in karzer.processes()
            if line.startswith("sleep 87654")]


BARE = ["/usr/bin/unshare", "-m", "/bin/sh", "-c",
        'umount -R /sys/fs/cgroup && exec "$@"', "sh"]


def make_user(session, kind):
    """Of what kind: root, user, or pids: a user with that controller alone."""
    if kind.endswith("root"):
        user = karzer.User(session, f"fallback-{kind}")
        user.prefix = BARE if kind == "bare-root" else []
        return user, None
    user = karzer.User(session, f"fallback-{kind}", karzer.USER_ID)
    if kind == "bare":
        user.prefix = [*BARE, *user.prefix]
        return user, None
    made = groups.Groups(f"ktest-{kind}-{os.getpid()}", karzer.USER_ID,
                         *([["pids"]] if kind == "pids" else []))
    user.prefix = [*made.prefix(), *user.prefix]
    return user, made


@pytest.fixture(scope="module", params=["root", "user", "pids", "bare", "bare-root"])
def caller(request, session):
    if os.getuid() != 0:
        conftest.lack("root", "only root can give control groups to a user")
    if request.param == "pids" and groups.unified():
        pytest.skip("the v2 tree has all controllers or none")
    try:
        user, made = make_user(session, request.param)
    except OSError as e:
        conftest.lack("cgroup", f"no control group can be made: {e}")
    user.prefix = [*user.prefix, str(session.helper / "refuse_namespaces")]
    user.kind = request.param
    yield user
    if made is not None:
        made.remove()


@pytest.fixture
def cell(caller, session):
    return karzer.Box(session, caller, "process")


@pytest.fixture
def orphans():
    """What becomes an orphan that nobody reaps becomes a child of ours."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def found():
        got = []
        try:
            while True:
                pid, _ = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return got
                got.append(pid)
        except ChildProcessError:
            return got
    yield found
    libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@pytest.mark.kernel
def test_every_attack_is_blocked(cell):
    done = cell.cli("attack", "--tier", "process", "--json", timeout=120)
    assert done.returncode == 0, done
    assert json.dumps(json.loads(done.stdout)).count("blocked") >= 6, done


@pytest.mark.kernel
def test_effective_names_what_replaces_namespaces(cell):
    how = cell.run("1").effective["mechanisms"]
    assert how["files"] == "Landlock" and how["network"] == "seccomp", how
    assert how["processes"] in ("Landlock scope", "signals sent by the holder")
    bare = cell.user.kind.startswith("bare")
    assert how["disk"] == "sampled sum", how
    assert ("cgroup" in how["memory"]) == (cell.user.kind in ("root", "user")), how
    assert how["pids"] == "counted at each fork" if bare else "cgroup" in how["pids"]


@pytest.mark.kernel
def test_daemons_are_dead_and_reaped_when_the_program_ends(cell, orphans):
    r = cell.python(LOOSE)
    assert r.text == "started\n" and loose() == [] and orphans() == [], r


def test_daemons_are_dead_and_reaped_at_a_timeout(cell, orphans):
    r = cell.python(LOOSE + "time.sleep(3600)\n", "--wall", seconds(1.5))
    assert (r.status, r.text) == ("timeout", "started\n"), r
    assert loose() == [] and orphans() == [], r


def test_daemons_are_dead_and_reaped_when_the_client_is_killed(cell, orphans):
    p = cell.start("exec", "--tier", "process", "--", "/usr/bin/python3", "-I",
                  "-S", "-c", LOOSE + "time.sleep(3600)\n")
    try:
        assert p.stdout.readline() == b"started\n"
        karzer.end(p)
        assert karzer.wait_until(lambda: not loose(), 2), loose()
        # The holder itself; nothing of the cell.
        karzer.wait_until(lambda: not karzer.leftover_processes(cell.session), 2)
        assert len(orphans()) <= 1
    finally:
        karzer.end(p)


@pytest.mark.parametrize("number", ["SIGKILL", "SIGSTOP"])
def test_daemons_are_dead_and_reaped_when_the_agent_is_killed(cell, orphans, number):
    """Landlock's scope has the agent in it, so the cell may do that to itself."""
    r = cell.python(
        LOOSE +
        "for p in others('comm', 'karzer-agent'):\n"
        f"    try: os.kill(p, signal.{number})\n"
        "    except PermissionError: print('refused', flush=True)\n"
        "time.sleep(3600)\n", "--wall", seconds(3), timeout=30)
    assert r.status in ("timeout", "internal"), r
    assert karzer.wait_until(lambda: not loose(), 2), r
    assert orphans() == [], r
    assert cell.run("print(1)").text == "1\n"


def test_a_chain_of_forks_that_never_rests_ends_with_the_cell(cell):
    r = cell.python("import os, time\n"
                    "for i in range(3):\n"
                    "    if os.fork() == 0:\n"
                    "        os.setsid()\n"
                    "        while True:\n"
                    "            try:\n"
                    "                if os.fork(): os._exit(0)\n"
                    "            except OSError: time.sleep(0.001)\n"
                    "time.sleep(3600)  # CHAIN-86421\n", "--wall", seconds(1.5))
    assert r.status == "timeout", r
    assert not [p for p, _, _, line in karzer.processes() if "CHAIN-86421" in line]


def test_a_process_whose_first_thread_has_ended_ends_with_the_cell(cell):
    r = cell.python("import ctypes, os, threading, time\n"
                    "if os.fork() == 0:\n"
                    "    os.setsid()\n"
                    "    threading.Thread(target=time.sleep, args=(3600,)).start()\n"
                    "    ctypes.CDLL(None).syscall(60, 0)  # LEADER-86422\n"
                    "time.sleep(0.3)\n")
    assert r.status == "ok", r
    assert not [line for line in karzer.with_threads() if "LEADER-86422" in line]


def test_what_killing_client_and_holder_leaves_the_next_run_removes(cell):
    p = cell.start("exec", "--tier", "process", "--", "/usr/bin/python3", "-I",
                  "-S", "-c", LOOSE + "time.sleep(3600)\n")
    try:
        assert p.stdout.readline() == b"started\n"
        for pid, _, exe, _ in karzer.processes():
            if exe == str(cell.session.tree / "libexec/karzer/karzer-jail"):
                os.kill(pid, signal.SIGKILL)
        karzer.end(p)
        assert cell.run("print('next')").text == "next\n"
        assert karzer.wait_until(lambda: not loose(), 2), loose()
    finally:
        karzer.end(p)


def test_the_operators_files_cannot_be_read_or_changed(cell):
    work = cell.user.work()
    (work / "secret").write_text("SECRET")
    cell.user.own(work / "secret")
    r = cell.python(
        "import os\n"
        f"p = {str(work / 'secret')!r}\n"
        "for what in (lambda: open(p), lambda: open(p, 'a'), lambda: os.unlink(p),\n"
        "             lambda: os.chmod(p, 0o777), lambda: os.truncate(p, 0),\n"
        "             lambda: os.utime(p), lambda: os.setxattr(p, 'user.a', b'1'),\n"
        "             lambda: os.rename(p, p + '2'), lambda: os.chown(p, 1, 1),\n"
        "             lambda: open(p + '3', 'w')):\n"
        "    try: what(); print('DONE')\n"
        "    except OSError: pass\n")
    assert r.stdout == b"" and r.status == "ok", r
    assert [f.name for f in work.iterdir()] == ["secret"]
    assert (work / "secret").stat().st_mode & 0o777 != 0o777


def test_a_process_of_the_host_cannot_be_signalled(cell):
    ids = ["--reuid", str(cell.user.uid), "--regid", str(cell.user.uid)]
    other = subprocess.Popen(["/usr/bin/setpriv", *ids, "--clear-groups", "--",
                              "/usr/bin/sleep", "60"])
    try:
        r = cell.python(f"import os, signal\n"
                       f"for who in ({other.pid}, -1):\n"
                       f"    try: os.kill(who, signal.SIGTERM); print('SENT', who)\n"
                       f"    except OSError: pass\n"
                       f"fd = None\n"
                       f"try:\n"
                       f"    fd = os.pidfd_open({other.pid})\n"
                       f"    signal.pidfd_send_signal(fd, 15); print('SENT')\n"
                       f"except OSError: pass\n")
        assert other.poll() is None and f"SENT {other.pid}" not in r.text, r
    finally:
        karzer.end(other)


def test_no_service_of_the_host_can_be_reached(cell):
    server = socket.create_server(("127.0.0.1", 0))
    with server:
        port = server.getsockname()[1]
        r = cell.python(
            "import socket\n"
            "for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):\n"
            "    try: socket.socket(family); print('MADE', family)\n"
            "    except OSError: pass\n"
            "try:\n"
            f"    socket.create_connection(('127.0.0.1', {port})); print('CONNECTED')\n"
            "except OSError: pass\n")
    assert r.stdout == b"" and r.status == "ok", r


def test_system_v_ipc_of_the_host_is_out_of_reach(cell):
    r = cell.python("import ctypes\n"
                   "libc = ctypes.CDLL(None, use_errno=True)\n"
                   "print(libc.shmget(1, 4096, 0o1600), libc.semget(1, 1, 0o1600),\n"
                   "      libc.msgget(1, 0o1600))\n")
    assert r.text == "-1 -1 -1\n", r


def test_the_program_has_a_home_and_a_place_for_files_that_are_gone_after(cell):
    r = cell.python("import os, tempfile\n"
                   "open(os.environ['HOME'] + '/f', 'w').write('x')\n"
                   "print(tempfile.gettempdir())\n"
                   "tempfile.NamedTemporaryFile(delete=False).write(b'x')\n")
    assert r.status == "ok" and not os.path.exists(r.text.strip()), r
    assert not [n for n in os.listdir("/dev/shm") if n.startswith("karzer-")]


def test_scratch_is_bounded_in_bytes_and_files(cell):
    code = ("import os\n"
            "d = os.environ['TMPDIR']\n"
            "for i in range({n}):\n"
            "    with open(f'{{d}}/{{i}}', 'wb') as f: f.write(bytes({size}))\n"
            "print('ESCAPED')\n")
    r = cell.python(code.format(n=200, size=1 << 20), "--disk", "16M")
    assert r.status == "disk", r
    r = cell.python(code.format(n=100000, size=0), "--inodes", "500")
    assert r.status == "disk", r


def test_memory_is_bounded_for_the_sum_of_processes(cell):
    r = cell.python("import os, time\n"
                   "for i in range(4):\n"
                   "    if os.fork() == 0:\n"
                   "        b = bytearray(30 << 20)\n"
                   "        for i in range(0, len(b), 4096): b[i] = 1\n"
                   "        time.sleep(5); os._exit(0)\n"
                   "print(sorted(os.wait()[1] for i in range(4)))\n",
                   "--mem", "64M", "--wall", seconds(30))
    assert r.status == "ok" and r.text.endswith("9]\n"), r
    assert "mem" in r.limits_hit(), r


@pytest.mark.kernel
def test_shared_memory_that_nobody_touches_any_more_still_counts(cell):
    for get in ("mmap.mmap(-1, n)", "mmap.mmap(os.open('/dev/zero', os.O_RDWR), n)"):
        r = cell.python("import mmap, os\n"
                       "n, kept = 30 << 20, []\n"
                       "for i in range(12):\n"
                       f"    kept.append({get})\n"
                       "    if os.fork() == 0:\n"
                       "        for at in range(0, n, 4096): kept[-1][at] = 1\n"
                       "        os._exit(0)\n"
                       "    assert os.wait()[1] == 0\n"
                       "print('ESCAPED')\n", "--mem", "64M", "--wall", seconds(30))
        assert b"ESCAPED" not in r.stdout and r.status in ("memory", "error"), r


def test_memory_of_a_process_that_lets_nobody_look_counts(cell):
    r = cell.python("import ctypes, os, time\n"
                   "ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n"  # PR_SET_DUMPABLE
                   "for i in range(4):\n"
                   "    if os.fork() == 0:\n"
                   "        b = bytearray(30 << 20)\n"
                   "        for i in range(0, len(b), 4096): b[i] = 1\n"
                   "        time.sleep(5); os._exit(0)\n"
                   "print(sorted(os.wait()[1] for i in range(4)))\n",
                   "--mem", "64M", "--wall", seconds(30))
    assert r.status == "ok" and r.text.endswith("9]\n"), r
    assert "mem" in r.limits_hit(), r


def test_forks_and_processor_time_are_bounded(cell):
    r = cell.python("import os, time\n"
                   "n = 0\n"
                   "for i in range(100):\n"
                   "    try:\n"
                   "        if os.fork() == 0: time.sleep(3600)\n"
                   "        n += 1\n"
                   "    except OSError: pass\n"
                   "os.write(1, b'%d' % n)\n", "--pids", "16")
    assert int(r.text) < 16, r
    r = cell.shell("while :; do :; done & while :; do :; done", "--cpu-time",
                  "500ms", "--wall", seconds(20))
    assert r.status == "timeout", r


@pytest.mark.parametrize("limit", [8, 64])
def test_open_files_are_limited(cell, limit):
    r = cell.shell("ulimit -n; ulimit -Hn", "--nofile", str(limit))
    assert r.text.split() == [str(limit)] * 2, r


def test_a_workspace_is_seen_at_its_own_path_and_only_written_as_granted(cell):
    work = cell.user.work()
    (work / "f").write_text("content")
    cell.user.own(work / "f")
    r = cell.shell(f"cat {work}/f; echo x 2>/dev/null >{work}/f || echo refused",
                  "--workspace", f"{work}:ro")
    assert r.text == "contentrefused\n" and (work / "f").read_text() == "content", r


def test_files_and_directories_go_in_with_their_modes_and_come_out(cell):
    """Although no cell can chmod there."""
    work, out = cell.user.work(), cell.user.work()
    (work / "d").mkdir()
    (work / "d" / "f").write_text("content")
    for path, mode in ((work / "d" / "f", 0o640), (work / "d", 0o755)):
        cell.user.own(path)
        path.chmod(mode)
    r = cell.shell("cd; stat -c %a in in/d in/d/f; cp in/d/f g", "--in",
                   f"{work}:in", "--out", f"g:{out}/g")
    assert (r.status, r.text) == ("ok", "755\n755\n640\n"), r
    assert (out / "g").read_text() == "content"


@pytest.mark.parametrize("lang, code, want", [
    ("node", "const a = await Promise.resolve([40 + 2])\nconsole.log(a[0])", b"42\n"),
    ("bash", "f() { echo $((40 + 2)); }\nf | cat", b"42\n"),
])
def test_other_languages_run_with_the_usual_memory(cell, lang, code, want):
    """Node takes much address space, which is not memory."""
    if not os.path.exists(f"/usr/bin/{lang}"):
        karzer.lack(lang, f"/usr/bin/{lang} is not installed")
    r = cell.run(code, "--lang", lang, "--mem", "256M")
    assert (r.status, r.stdout) == ("ok", want), r


def test_node_without_memory_is_memory(cell):
    if not os.path.exists("/usr/bin/node"):
        karzer.lack("node", "/usr/bin/node is not installed")
    r = cell.run("const a = []\nfor (;;) a.push(new Array(1000).fill(Math.random()))",
                 "--lang", "node", "--mem", "256M", "--cpu-time", seconds(60),
                 "--wall", seconds(60))
    assert r.status == "memory", r
