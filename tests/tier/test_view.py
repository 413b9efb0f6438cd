"""What a cell sees of the host, and what it cannot change there."""
import os
import socket
import subprocess

import pytest

import karzer
from karzer import lack

GONE = ("/home", "/root", "/var", "/run", "/srv", "/mnt", "/media")


def secret_file(box, directory):
    path = directory / "credentials"
    path.write_text("token=SECRET-IN-A-FILE\n")
    path.chmod(0o644)
    box.user.own(path)
    return path


@pytest.mark.kernel
def test_the_operators_credentials_cannot_be_read(box):
    path = secret_file(box, box.dir)
    r = box.python(f"print(open({str(path)!r}).read())")
    assert b"SECRET" not in r.stdout + r.stderr, r
    assert r.status == "error", r


def test_credentials_in_the_operators_home_cannot_be_read(box):
    aws = box.user.home / ".aws"
    aws.mkdir(exist_ok=True)
    box.user.own(aws)
    path = secret_file(box, aws)
    r = box.python(f"print(open({str(path)!r}).read())")
    assert b"SECRET" not in r.stdout + r.stderr, r


def test_nothing_of_peoples_directories_is_there(box):
    r = box.python(
        "import os\n"
        f"for top in {GONE!r}:\n"
        "    for d, dirs, files in os.walk(top):\n"
        "        for f in files: print(os.path.join(d, f))\n")
    own = ("/var/tmp/", "/home/user/", "/run/lock/")
    alien = [l for l in r.text.splitlines() if not l.startswith(own)]
    assert not alien and r.status == "ok", r


def test_the_host_is_not_in_proc(box):
    """No process but the cell's own."""
    r = box.python("import os\n"
                   "for p in os.listdir('/proc'):\n"
                   "    if p.isdigit():\n"
                   "        print(p, open(f'/proc/{p}/cmdline').read().split('\\0')[0])\n")
    lines = r.text.splitlines()
    assert 1 <= len(lines) <= 3, r
    assert all("agent" in l or "python3" in l or l.split() == ["1"]
               for l in lines), r


def test_secrets_of_the_environment_never_reach_the_program(box):
    done = box.cli("exec", "--tier", box.tier, "--", "sh", "-c",
                   "env; cat /proc/1/environ /proc/self/environ | tr '\\0' '\\n'",
                   env={"AWS_SECRET_ACCESS_KEY": "SECRET-IN-ENV"})
    assert b"SECRET" not in done.stdout + done.stderr, done
    assert b"AWS" not in done.stdout


def test_the_environment_is_the_documented_one(box):
    r = box.exec("env")
    names = {line.split("=")[0] for line in r.text.splitlines()}
    assert names == {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR"}, r


def test_env_adds_and_replaces(box):
    r = box.exec("env", options=["--env", "A=1", "--env", "HOME=/tmp", "--env", "A=2"])
    assert "A=2\n" in r.text and "A=1\n" not in r.text, r
    assert "HOME=/tmp\n" in r.text


def test_only_three_descriptors_are_open(box):
    r = box.python("import os\nfor f in sorted(map(int, os.listdir('/proc/self/fd'))):\n"
                   "    try: print(f, os.readlink(f'/proc/self/fd/{f}').split(':')[0])\n"
                   "    except OSError: pass\n")
    got = [l.split()[0] for l in r.text.splitlines()]
    assert got == ["0", "1", "2"], r


@pytest.mark.tiers("container")
def test_the_root_is_read_only(box):
    r = box.shell("for d in / /usr /usr/bin /etc /bin /dev /proc; do\n"
                  "  touch $d/x 2>/dev/null && echo MADE $d\n"
                  "  rm -f $d/x 2>/dev/null\n"
                  "done; echo end")
    assert r.text == "end\n", r


@pytest.mark.tiers("container")
def test_uptime_starts_at_zero(box):
    r = box.python("print(open('/proc/uptime').read().split()[0])\n"
                   "import time; print(time.clock_gettime(time.CLOCK_BOOTTIME))\n"
                   "print(time.clock_gettime(time.CLOCK_MONOTONIC))")
    assert r.effective["mechanisms"]["clock"], r
    assert all(0 <= float(l) < 5 * karzer.SLOW for l in r.text.split()), r


@pytest.mark.tiers("container")
def test_the_hostname_is_not_the_hosts(box):
    r = box.python("import os; print(os.uname().nodename)")
    assert r.text.strip() not in ("", socket.gethostname()), r


@pytest.mark.tiers("container")
def test_etc_is_a_generated_minimum(box):
    r = box.shell("ls /etc; cat /etc/passwd /etc/group /etc/hosts")
    names = set(r.text.split())
    assert "passwd" in names and "alternatives" in names and "ssl" in names, r
    assert not names & {"shadow", "gshadow", "sudoers", "ssh", "machine-id",
                        "fstab", "sudoers.d", "cron.d", "systemd"}, r
    assert "user:" in r.text and "localhost" in r.text, r


@pytest.mark.tiers("container")
def test_the_program_is_user_with_a_home(box):
    r = box.shell("id -un; echo ~; pwd; touch ~/x && echo made; stat -c %U ~")
    assert r.text.split() == ["user", "/home/user", "/home/user", "made", "user"], r


@pytest.mark.tiers("container")
def test_dev_is_minimal(box):
    r = box.python("import os; print(*sorted(os.listdir('/dev')))")
    assert set(r.text.split()) <= {
        "null", "zero", "full", "random", "urandom", "tty", "fd", "stdin",
        "stdout", "stderr", "shm", "pts", "ptmx", "mqueue"}, r
    assert {"null", "zero", "urandom", "shm"} <= set(r.text.split()), r


@pytest.mark.kernel
@pytest.mark.tiers("container")
def test_the_masked_files_of_proc_tell_nothing(box):
    r = box.shell(
        "for f in /proc/kcore /proc/keys /proc/timer_list /proc/sched_debug "
        "/proc/sysrq-trigger /proc/latency_stats; do\n"
        "  [ -s $f ] && head -c 1 $f 2>/dev/null | grep -q . && echo READ $f\n"
        "done\n"
        "for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname "
        "/proc/sys/vm/overcommit_memory /proc/sysrq-trigger /proc/irq/0; do\n"
        "  (echo x > $f) 2>/dev/null && echo WROTE $f\n"
        "done; "
        "find /proc/acpi /proc/scsi /sys/firmware -mindepth 1 2>/dev/null; echo end")
    assert r.text == "end\n", r


@pytest.mark.tiers("container")
def test_sys_cannot_be_written(box):
    r = box.shell("find /sys -type f -perm -200 2>/dev/null | while read f; do\n"
                  "  (: >> \"$f\") 2>/dev/null && echo OPENED $f\n"
                  "done | head -n 5; echo end")
    assert r.text == "end\n", r


@pytest.mark.users("root")
def test_files_under_usr_that_carry_tokens_are_masked(box):
    """Planted in a private mount namespace, so the host keeps its own."""
    script = (
        "set -e; mount --make-rprivate /; mkdir $1/over $1/work; "
        "mount -t overlay o -o lowerdir=/usr,upperdir=$1/over,workdir=$1/work /usr; "
        "for f in /usr/etc/npmrc /usr/local/etc/npmrc /usr/pip.conf; do "
        "mkdir -p $(dirname $f); echo token=SECRET > $f; done; shift; exec \"$@\"")
    work = box.user.work()
    subprocess.run(["mount", "-t", "tmpfs", "karzertest", work], check=True)
    try:
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", script, "sh", str(work),
             *box.command("exec", "--tier", box.tier, "--", "sh", "-c",
                          "cat /usr/etc/npmrc /usr/local/etc/npmrc "
                          "/usr/pip.conf; echo end")],
            capture_output=True, env=box.user.env, check=False, timeout=60)
    finally:
        subprocess.run(["umount", work], check=True)
    assert b"SECRET" not in done.stdout, done
    assert b"end\n" in done.stdout, done


SHARED = ("/usr", "/usr/bin", "/usr/bin/env", "/etc", "/etc/passwd")
CHANGES = {
    "mode": "os.chmod(p, 0o777)",
    "mode by fd": "os.fchmod(os.open(p, os.O_RDONLY), 0o777)",
    "owner": "os.chown(p, os.getuid(), os.getgid())",
    "owner by fd": "os.fchown(os.open(p, os.O_RDONLY), os.getuid(), os.getgid())",
    "time": "os.utime(p, (1, 1))",
    "time by fd": "os.utime(os.open(p, os.O_RDONLY), (1, 1))",
    "attribute": "os.setxattr(p, 'user.karzer', b'1')",
    "attribute by fd": "os.setxattr(os.open(p, os.O_RDONLY), 'user.karzer', b'1')",
    "flags": "fcntl.ioctl(os.open(p, os.O_RDONLY), 0x40086602, bytes(8))",
    "length": "os.truncate(p, 0)",
    "content": "os.write(os.open(p, os.O_WRONLY), b'x')",
    "name": "os.rename(p, p + '.x')",
    "existence": "os.unlink(p)",
}


def state(path):
    st = os.lstat(path)
    return (st.st_mode, st.st_uid, st.st_gid, st.st_size, st.st_mtime_ns,
            st.st_ctime_ns, st.st_ino)


@pytest.mark.kernel
def test_files_of_the_operator_cannot_be_changed(box):
    """In a workspace that is read-only, with files that the operator owns: by
    path and by descriptor, in mode, owner, time, attribute, content, name."""
    work = box.user.work()
    for name in ("a", "b"):
        (work / name).write_text("kept")
        (work / name).chmod(0o666)
        box.user.own(work / name)
    before = {n: state(work / n) for n in ("a", "b", ".")}
    tries = "".join(f"    {name!r}: lambda p: {call},\n" for name, call in CHANGES.items())
    r = box.python(
        "import os, fcntl\n"
        "tries = {\n" + tries + "}\n"
        "for name, change in tries.items():\n"
        f"    for p in ({str(work / 'a')!r}, {str(work / 'b')!r}, {str(work)!r}):\n"
        "        try: change(p); print('CHANGED', name, p)\n"
        "        except OSError: pass\n",
        "--workspace", f"{work}:ro")
    assert r.status == "ok" and r.stdout == b"", r
    assert {n: state(work / n) for n in ("a", "b", ".")} == before, r
    assert (work / "a").read_text() == "kept"


def test_the_hosts_own_files_cannot_be_changed(box):
    """With calls that would leave everything as it is, were they to succeed."""
    r = box.python(
        "import os\n"
        f"for p in {SHARED!r}:\n"
        "    st = os.lstat(p)\n"
        "    for name, call in {\n"
        "        'mode': lambda: os.chmod(p, st.st_mode & 0o7777),\n"
        "        'owner': lambda: os.chown(p, -1, -1),\n"
        "        'time': lambda: os.utime(p, ns=(st.st_atime_ns, st.st_mtime_ns)),\n"
        "        'content': lambda: os.close(os.open(p, os.O_WRONLY)),\n"
        "        'attribute': lambda: os.removexattr(p, 'user.karzer'),\n"
        "    }.items():\n"
        "        try: call(); print('CHANGED', name, p)\n"
        "        except OSError as e:\n"
        "            if e.errno == 61: print('REACHED', name, p)\n")
    assert r.status == "ok" and r.stdout == b"", r


@pytest.mark.kernel
def test_a_path_socket_of_the_host_cannot_be_reached(box):
    """Not even in a workspace that the cell sees."""
    work = box.user.work()
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(work / "s"))
        s.listen(5)
        (work / "s").chmod(0o777)
        r = box.python(
            "import socket\n"
            f"for p in ({str(work / 's')!r}, '/workspace/s'):\n"
            "    try:\n"
            "        s = socket.socket(socket.AF_UNIX)\n"
            "        s.connect(p)\n"
            "        print('CONNECTED', p)\n"
            "    except OSError as e: print(e)\n",
            "--workspace", f"{work}:ro")
        assert b"CONNECTED" not in r.stdout and r.status == "ok", r
        s.setblocking(False)
        with pytest.raises(BlockingIOError):
            s.accept()


@pytest.mark.kernel
def test_an_abstract_socket_of_the_host_cannot_be_reached(box):
    name = "\0karzer-test-%d" % os.getpid()
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(name)
        s.listen(5)
        r = box.python(
            "import socket\n"
            "try:\n"
            "    s = socket.socket(socket.AF_UNIX)\n"
            f"    s.connect({name!r})\n"
            "    print('CONNECTED')\n"
            "except OSError as e: print(e)\n")
        assert b"CONNECTED" not in r.stdout and r.status == "ok", r


@pytest.mark.kernel
@pytest.mark.parametrize("kind", ["SOCK_STREAM", "SOCK_DGRAM"])
def test_a_service_on_the_hosts_loopback_cannot_be_reached(box, kind):
    with socket.socket(socket.AF_INET, getattr(socket, kind)) as s:
        s.bind(("127.0.0.1", 0))
        if kind == "SOCK_STREAM":
            s.listen(5)
        s.setblocking(False)
        r = box.python(
            "import socket\n"
            "try:\n"
            f"    s = socket.socket(socket.AF_INET, socket.{kind})\n"
            "    s.settimeout(2)\n"
            f"    s.connect(('127.0.0.1', {s.getsockname()[1]}))\n"
            "    s.send(b'x')\n"
            "    print('SENT')\n"
            "except OSError as e: print(type(e).__name__)\n")
        assert r.status == "ok", r
        if kind == "SOCK_STREAM":
            assert b"SENT" not in r.stdout, r
        else:
            import time
            time.sleep(0.05)
            with pytest.raises(BlockingIOError):
                s.recv(10)


def test_loopback_of_its_own_works(box):
    r = box.python(
        "import socket, os\n"
        "a = socket.create_server(('127.0.0.1', 0))\n"
        "if os.fork() == 0:\n"
        "    socket.create_connection(a.getsockname()).send(b'hello'); os._exit(0)\n"
        "c, _ = a.accept(); print(c.recv(5)); os.wait()\n")
    if r.effective["mechanisms"]["network"] != "namespace":
        lack("userns", "no network namespace: sockets are refused")
    assert r.text == "b'hello'\n", r


@pytest.mark.tiers("container")
def test_there_is_no_interface_but_loopback(box):
    r = box.python("import socket; print(*[n for _, n in socket.if_nameindex()])\n"
                   "print(len(open('/proc/net/route').read().splitlines()))")
    assert r.text == "lo\n1\n", r


def test_processes_of_the_host_cannot_be_signalled(box):
    victim = subprocess.Popen([*box.user.prefix, "sleep", "100"])
    try:
        r = box.python(
            "import os\n"
            f"for p, s in (({victim.pid}, 15), ({os.getpid()}, 0)):\n"
            "    try: os.kill(p, s); print('SENT', p)\n"
            "    except OSError: print('no')\n")
        assert f"SENT {victim.pid}" not in r.text, r
        assert f"SENT {os.getpid()}" not in r.text, r
        assert victim.poll() is None
    finally:
        karzer.end(victim)


def test_sysv_ipc_is_not_the_hosts(box):
    made = subprocess.run(["ipcmk", "-M", "4096", "-p", "0666"],
                          capture_output=True, check=True, text=True)
    ident = made.stdout.split()[-1]
    try:
        r = box.shell("tail -n +2 /proc/sysvipc/shm | wc -l; ipcs -m | grep -c 0x")
        if r.effective["mechanisms"]["ipc"] == "namespace":
            assert r.text.split() == ["0", "0"], r
        r = box.python(
            "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
            f"print('ATTACHED' if libc.shmat({ident}, None, 0o10000) != -1 else 'no')")
        assert r.text == "no\n", r
    finally:
        subprocess.run(["ipcrm", "-m", ident], check=True)
