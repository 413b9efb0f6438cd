"""karzer bwrap beside bubblewrap itself: the same words, the same output."""
import os
import pathlib
import signal
import subprocess

import pytest

import karzer
import screen

pytestmark = pytest.mark.tiers("container")

USR = ["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink",
       "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"]
OWN = ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
BASE = [*USR, *OWN, "--unshare-all"]
# What a coding agent's sandbox says, and what an application's does.
AGENT = ["--new-session", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev",
         "--unshare-user", "--unshare-pid", "--unshare-net", "--proc", "/proc"]
APP = [*USR, "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache",
       "--ro-bind-try", "/no/such/place", "/no", "--proc", "/proc", "--dev", "/dev",
       "--tmpfs", "/tmp", "--dir", "/run/user/1000", "--dir", "/var/tmp",
       "--symlink", "../run", "/var/run", "--unshare-user", "--unshare-pid",
       "--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
       "--hostname", "app", "--chdir", "/run/user/1000", "--clearenv", "--setenv",
       "PATH", "/usr/bin", "--setenv", "HOME", "/var/tmp", "--cap-drop", "ALL",
       "--die-with-parent", "--new-session"]


def start(box, program, *args, stdin=b"", cwd=None, env=None, fds=()):
    return subprocess.run([*box.user.prefix, *program, *map(str, args)],
                          input=stdin, capture_output=True, cwd=cwd or box.dir,
                          env={**box.user.env, **(env or {})}, pass_fds=fds,
                          timeout=60 * karzer.SLOW, check=False)


def karzered(box, *args, **more):
    return start(box, [box.karzer, "bwrap"], *args, **more)


def both(box, *args, **more):
    """(karzer's, bubblewrap's) output and status."""
    if not os.path.exists("/usr/bin/bwrap"):
        karzer.lack("bwrap", "no bubblewrap here")
    theirs = start(box, ["/usr/bin/bwrap"], *args, **more)
    if b"bwrap: " in theirs.stderr:
        pytest.skip(f"bubblewrap cannot: {theirs.stderr[:200]}")
    ours = karzered(box, *args, **more)
    return (ours.stdout, ours.returncode), (theirs.stdout, theirs.returncode)


def shell(script):
    return ["--", "/bin/sh", "-c", script]


SAME = {
    "a command": [*BASE, "echo", "hello", "--bind", "/"],
    "status": [*BASE, *shell("exit 7")],
    "a signal": [*BASE, *shell("kill -TERM $$")],
    "the root": [*BASE, *shell("ls /; ls /dev | sort | grep -v core")],
    "links": [*BASE, *shell("readlink /bin /lib")],
    "tmpfs": [*BASE, "--perms", "0700", "--tmpfs", "/a/b",
              *shell("stat -c %a /a/b; echo x >/a/b/c; cat /a/b/c")],
    "a directory": [*BASE, "--dir", "/d/e", *shell("ls -d /d/e; touch /d/e/f && echo ok")],
    "environment": [*BASE, "--clearenv", "--setenv", "A", "b=c", "--setenv", "X", "1",
                    "--unsetenv", "X", "/usr/bin/env"],
    "chdir": [*BASE, "--chdir", "/usr/lib", *shell("pwd; echo $PWD")],
    "no chdir": [*BASE, *shell("pwd")],
    "hostname": [*BASE, "--hostname", "inside", *shell("uname -n")],
    "ids": [*BASE, "--uid", "4321", "--gid", "1234", *shell("id -u; id -g")],
    "read-only": [*BASE, *shell("touch /usr/x 2>&1")],
    "network": [*BASE, *shell("cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '")],
    "processes": [*BASE, *shell("ls /proc | grep -c '^[0-9]' | sed 's/[2-9]/few/'")],
    "an agent": [*AGENT, *shell("pwd; ls /etc/passwd /usr/bin/env; touch x 2>&1")],
    "an application": [*APP, *shell("pwd; hostname; env | sort; readlink /var/run; ls /; "
                                    "touch f && ls")],
}


@pytest.mark.parametrize("case", SAME)
def test_the_same_words_give_the_same_output(box, case):
    ours, theirs = both(box, *SAME[case])
    if case in ("the root", "an application"):  # a cell always has a /tmp, and a pts/ptmx
        assert set(ours[0].split()) - set(theirs[0].split()) <= {b"tmp"}, (ours, theirs)
        assert not set(theirs[0].split()) - set(ours[0].split()) - {b"console"}, (ours, theirs)
    else:
        assert ours == theirs


def test_a_bind_is_written_and_belongs_to_its_owner(box):
    (box.dir / "made").mkdir()
    box.user.own(box.dir / "made")
    ours, theirs = both(box, *BASE, "--bind", box.dir / "made", "/w", "--chdir", "/w",
                        *shell("echo hi >>f; cat f | head -1; stat -c %a f"))
    assert ours == theirs
    st = (box.dir / "made" / "f").stat()
    assert st.st_uid == (box.dir / "made").stat().st_uid
    assert (box.dir / "made" / "f").read_text() == "hi\nhi\n"


def test_an_agents_workspace_is_all_that_it_writes(box):
    done = karzered(box, *AGENT, "--bind", box.dir, box.dir, *shell(
        "pwd; echo y >out; touch /usr/x /etc/x ~/x 2>/dev/null; echo $?"))
    assert done.stdout.decode().split() == [str(box.dir), "1"], done
    assert (box.dir / "out").read_text() == "y\n"


def test_a_file_hidden_by_dev_null_cannot_be_read(box):
    secret = box.dir / "secret"
    secret.write_text("hush")
    box.user.own(secret)
    done = karzered(box, *AGENT, "--ro-bind", "/dev/null", secret,
                    *shell(f"cat {secret}"))
    assert done.returncode == 1 and b"hush" not in done.stdout, done


def test_data_and_arguments_come_from_descriptors(box):
    def pipe(data):
        r, w = os.pipe()
        os.write(w, data)
        os.close(w)
        return r

    words = ["--setenv", "FROM", "args", "--dir", "/made"]
    data, ro, args = pipe(b"data\n"), pipe(b"ro\n"), pipe(b"".join(w.encode() + b"\0" for w in words))
    done = karzered(box, *BASE, "--file", data, "/f", "--perms", "0444",
                    "--ro-bind-data", ro, "/etc/ro", "--args", args,
                    *shell("cat /f /etc/ro; echo more >>/f; cat /f; stat -c %a /etc/ro; "
                           "echo no >>/etc/ro; echo $FROM; ls -d /made"),
                    fds=(data, ro, args))
    for fd in (data, ro, args):
        os.close(fd)
    assert done.stdout == b"data\nro\ndata\nmore\n444\nargs\n/made\n", done


def test_the_command_is_no_option_whatever_it_is_called(box):
    """flatpak CVE-2024-32462: a command that starts with --bind."""
    for words in (["--", "--bind", "/", "/"], ["/bin/echo", "--bind", "/", "/x"]):
        done = karzered(box, *BASE, *words)
        assert b"denied" not in done.stderr, done
    assert done.stdout == b"--bind / /x\n"
    assert karzered(box, *BASE, "--", "--bind").returncode == 127


def test_a_directory_that_became_a_link_is_not_followed(box):
    """flatpak CVE-2024-42472: what is kept was replaced by a link."""
    kept = box.dir / "kept"
    kept.mkdir()
    fd = os.open(kept, os.O_PATH)
    kept.rename(box.dir / "elsewhere")
    kept.symlink_to("/etc")
    other = os.open(box.dir / "elsewhere", os.O_PATH)
    (box.dir / "elsewhere").rmdir()
    (box.dir / "elsewhere").symlink_to("/etc")
    for one in (fd, other):
        done = karzered(box, *BASE, "--bind-fd", one, "/k", *shell("ls /k"), fds=(one,))
        assert done.returncode == 125 and b"passwd" not in done.stdout, done
        os.close(one)


def test_a_descriptor_of_a_directory_is_bound(box):
    (box.dir / "f").write_text("x")
    fd = os.open(box.dir, os.O_PATH)
    done = karzered(box, *BASE, "--ro-bind-fd", fd, "/k", *shell("ls /k"), fds=(fd,))
    os.close(fd)
    assert b"f\n" in done.stdout, done


def test_the_record_is_covered_in_whatever_is_shown(box):
    record = box.user.state / "boundary.jsonl"
    done = karzered(box, *AGENT, *shell(f"cat {record}; ls -A {box.user.state}"))
    assert done.stdout == b"", done
    done = karzered(box, *AGENT, "--bind", box.user.dir, box.user.dir,
                    *shell(f"echo ev''il >>{record}; rm -rf {box.user.state}; true"))
    assert box.cli("log", "verify").returncode == 0
    assert b"evil" not in record.read_bytes()
    done = karzered(box, *BASE, "--ro-bind", box.user.state, "/s", "true")
    assert done.returncode == 125 and b"--ro-bind" in done.stderr, done


def test_the_programs_that_hold_it_cannot_be_written(box):
    done = karzered(box, *BASE, "--bind", box.session.tree, "/k", "true")
    assert done.returncode == 125 and b"--bind" in done.stderr, done


def test_limits_hold_and_what_ran_is_recorded(box):
    done = karzered(box, *BASE, "--mem", "64M", "--ro-bind", "/etc/alternatives",
                    "/etc/alternatives", "/usr/bin/python3", "-I", "-S", "-c",
                    "x = bytearray(512 << 20)")
    assert done.returncode == 137 and b"memory" in done.stderr or (
        b"MemoryError" in done.stderr), done
    granted = box.log("--kind", "run.granted")[-1]
    assert granted["argv"][0] == "/usr/bin/python3"
    shown = {m["path"]: m for m in granted["mounts"]}
    assert shown["/usr"]["host"] == "/usr" and shown["/bin"]["made"] == "link", shown


def test_scratch_of_all_directories_together_is_bounded(box):
    done = karzered(box, *BASE, "--disk", "4M", "--tmpfs", "/a", "--dir", "/b", *shell(
        "head -c 3M /dev/zero >/a/x && head -c 3M /dev/zero >/b/x && echo both"))
    assert b"both" not in done.stdout, done


def test_the_environment_is_a_list_unless_all_is_asked_for(box):
    env = {"SECRET_TOKEN": "hush", "LC_TIME": "C", "TZ": "UTC"}
    done = karzered(box, *BASE, "/usr/bin/env", env=env)
    assert b"hush" not in done.stdout and b"LC_TIME=C" in done.stdout, done
    done = karzered(box, *BASE, "--inherit-env", "/usr/bin/env", env=env)
    assert b"SECRET_TOKEN=hush" in done.stdout, done


REFUSED = {
    "--share-net": ["--share-net"], "--overlay-src": ["--overlay-src", "/usr"],
    "--seccomp": ["--seccomp", "0"], "--as-pid-1": ["--as-pid-1"],
    "--cap-add": ["--cap-add", "ALL"], "--size": ["--size", "9", "--tmpfs", "/x"],
    "--dev-bind": ["--dev-bind", "/dev/sda", "/dev/sda"], "--proc": ["--proc", "/p"],
    "--bind": ["--bind", "/", "/"], "--ro-bind": ["--ro-bind", "/no/such", "/x"],
    "--perms": ["--perms", "4755", "--tmpfs", "/x"], "--symlink": ["--symlink", "a", "/../x"],
    "--uid": ["--uid", "-1"], "--args": ["--args", "99"], "--chmod": ["--chmod", "1", "/"],
    "--hostname": ["--hostname", "a b"], "--setenv": ["--setenv", "A=B", "c"],
    "--remount-ro": ["--remount-ro", "/nothing"], "--bindd": ["--bindd", "/", "/"],
    "--tmpfs": ["--tmpfs", "/proc/x"], "--info-fd": ["--info-fd", "1"],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_honoured_is_an_error_that_names_it(any_box, name):
    any_box.tier = "container"
    done = karzered(any_box, *USR, *REFUSED[name], "/bin/true")
    assert done.returncode in (2, 125) and name.encode() in done.stderr, done


def test_a_bind_of_a_socket_or_a_device_is_refused(any_box):
    for path in ("/dev/zero", "/proc/self", "/sys/kernel"):
        done = karzered(any_box, *USR, "--ro-bind", path, "/x", "/bin/true")
        assert done.returncode == 125 and b"--ro-bind" in done.stderr, done


def test_its_own_name_is_enough(box):
    link = box.dir / "bwrap"
    link.symlink_to(box.karzer)
    done = start(box, [link], *BASE, "echo", "linked")
    assert (done.stdout, done.returncode) == (b"linked\n", 0), done
    assert start(box, [link], "--version").stdout.startswith(b"bubblewrap ")


def test_it_dies_with_its_parent(box):
    script = f"{box.karzer} bwrap {' '.join(BASE)} --die-with-parent sleep 60 & echo $!; wait"
    before = len(box.log("--kind", "cell.started"))
    p = subprocess.Popen([*box.user.prefix, "/bin/sh", "-c", script], env=box.user.env,
                         stdout=subprocess.PIPE, cwd=box.dir)
    try:
        pid = int(p.stdout.readline())
        assert karzer.wait_until(lambda: b"sleep" in pathlib.Path(
            f"/proc/{pid}/cmdline").read_bytes())
        assert karzer.wait_until(
            lambda: len(box.log("--kind", "cell.started")) > before)
    finally:
        p.send_signal(signal.SIGKILL)
        p.wait()
        p.stdout.close()
    assert karzer.wait_until(lambda: not os.path.exists(f"/proc/{pid}"))
    assert box.log("--kind", "run.finished")[-1]["status"] == "killed"


def test_at_a_terminal_it_is_one_of_the_cells_own(box):
    with screen.Person(box, "bwrap", *BASE, "--new-session", "--", "/bin/bash", "--norc") as p:
        p.expect(r"\$ ")
        p.type("tty; stty size\r")
        p.expect(r"/dev/pts/0\r\n24 80")
        p.type("exit 3\r")
        assert p.end() == 3
        assert p.modes() == p.before


def test_what_runs_and_records_a_cell_is_never_written(any_box):
    """Not by an ancestor, which could be renamed, and not by another name."""
    state, programs = any_box.user.state, any_box.session.karzer.parent
    for place in (state, state.parent, programs, programs.parent):
        done = any_box.cli("bwrap", "--ro-bind", "/usr", "/usr", "--symlink",
                           "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
                           "--symlink", "usr/lib64", "/lib64", "--bind", place,
                           "/x", "true")
        assert done.returncode == 125, (place, done)
        assert b"could change it" in done.stderr or b"record" in done.stderr, done


def test_a_link_that_a_cell_may_have_made_is_not_followed(any_box):
    work, secret = any_box.user.work(), any_box.user.work()
    (work / "data").symlink_to(secret)
    any_box.user.own(work / "data")
    done = any_box.cli("bwrap", "--ro-bind", "/usr", "/usr", "--bind",
                       work / "data", "/d", "true")
    assert done.returncode == 125 and b"is a link" in done.stderr, done
