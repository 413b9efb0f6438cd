"""AF_UNIX sockets of the host in a tree that a cell sees: none is reached."""
import contextlib
import os
import shutil
import socket
import subprocess

import pytest

import karzer

FIND = (
    "import os, socket, stat\n"
    "for d, _, files in os.walk(os.getcwd()):\n"
    "    os.chdir(d)\n"
    "    for f in files:\n"
    "        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):\n"
    "            try: socket.socket(socket.AF_UNIX, kind).connect(f)\n"
    "            except OSError: continue\n"
    "            print('CONNECTED', d, f)\n"
    "        print(f, stat.S_ISSOCK(os.stat(f).st_mode))\n")


@contextlib.contextmanager
def bound(directory, name, kind=socket.SOCK_STREAM):
    """A socket that was bound by this name while in this directory."""
    here = os.open(".", os.O_PATH)
    with socket.socket(socket.AF_UNIX, kind) as s:
        os.chdir(directory)
        s.bind(name)
        os.chmod(name, 0o777)
        os.fchdir(here)
        os.close(here)
        if kind == socket.SOCK_STREAM:
            s.listen(5)
        yield s


def deep(work, *names):
    """A directory below work, of the same owner."""
    path = work
    for name in names:
        path = path / name
        path.mkdir()
        os.chown(path, work.stat().st_uid, -1)
    return path


@pytest.mark.kernel
@pytest.mark.parametrize("mode", ["ro", "rw"])
def test_a_socket_with_a_relative_name_is_masked_at_any_depth(box, mode):
    work = box.user.work()
    d = deep(work, "a", "b", "c")
    with bound(d, "s"), bound(work, "top"), bound(work, "a/b/t"), \
            bound(d, "dgram", socket.SOCK_DGRAM):
        r = box.python(FIND, "--workspace", f"{work}:{mode}")
    assert r.status == "ok", r
    assert sorted(r.text.splitlines()) == [
        "dgram False", "s False", "t False", "top False"], r


def test_a_socket_that_was_moved_after_it_was_bound_is_masked(box):
    work = box.user.work()
    d = deep(work, "a", "b")
    with bound("/", str(d / "new")):
        (d / "new").rename(work / "s")
        r = box.python(FIND, "--workspace", f"{work}:ro")
    assert r.status == "ok" and r.text == "s False\n", r


def test_a_socket_with_a_line_break_in_its_name_is_masked(box):
    work = box.user.work()
    with bound(deep(work, "a"), "s\nt"):
        r = box.python(FIND, "--workspace", f"{work}:ro")
    assert r.status == "ok" and r.text == "s\nt False\n", r


def test_a_link_in_a_workspace_is_not_walked(box):
    """To / and to itself: neither ends the walk, nor leads it out."""
    work = box.user.work()
    d = deep(work, "a")
    (d / "root").symlink_to("/")
    (d / "loop").symlink_to("loop")
    with bound(d, "s"):
        r = box.python(FIND.replace("os.stat", "os.lstat"),
                       "--workspace", f"{work}:ro")
    assert "s False" in r.text.splitlines() and "CONNECTED" not in r.text, r


def test_a_tree_that_cannot_be_walked_is_refused(box):
    """Not shown half seen: the run does not start, and says what to do."""
    work = box.user.work()
    deep(work, *(["d"] * 220))
    try:
        with bound(work / "d", "s"):
            done = box.cli("run", "--tier", box.tier, "--workspace",
                           f"{work}:ro", "-c", "print(1)")
        assert done.returncode == 125 and done.stdout == b"", done
        said = done.stderr.decode()
        if "Landlock" not in said:  # there no socket can be made at all
            assert "give a smaller directory" in said, said
            assert "--may-lack" not in said, said
    finally:
        shutil.rmtree(work)


def test_a_hard_link_of_a_socket_is_masked(box):
    work = box.user.work()
    away = box.user.work()
    with bound("/", str(away / "s")):
        os.link(away / "s", deep(work, "a") / "t")
        r = box.python(FIND, "--workspace", f"{work}:ro")
    assert r.status == "ok" and r.text == "t False\n", r


BIND = ("import os, socket, sys\n"
        "os.chroot(sys.argv[1])\n"
        "s = socket.socket(socket.AF_UNIX)\n"
        "s.bind('/s'); os.chmod('/s', 0o777); s.listen(5)\n"
        "print('bound', flush=True)\n"
        "sys.stdin.read()\n")


def test_a_socket_of_a_server_in_a_chroot_is_masked(box):
    """Its name in the kernel's list is the one that the server saw."""
    if os.getuid() != 0:
        pytest.skip("chroot needs root")
    work = box.user.work()
    server = subprocess.Popen(
        ["/usr/bin/python3", "-I", "-S", "-c", BIND, deep(work, "a")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert server.stdout.readline() == b"bound\n"
        r = box.python(FIND, "--workspace", f"{work}:ro")
    finally:
        server.communicate()
    assert r.status == "ok" and r.text == "s False\n", r


MOUNTED = ("import os\n"
           "print(os.listdir('proc'), os.path.exists('proc/self'))\n")


@pytest.mark.parametrize("code, said", [(FIND, "f False"),
                                        (MOUNTED, "[] False")])
def test_what_is_mounted_below_a_workspace_is_masked(box, code, said):
    """A socket over a file, as container engines share theirs; /proc."""
    if os.getuid() != 0:
        pytest.skip("mounts need root")
    work, away = deep(box.user.work(), "a b"), box.user.work()
    deep(work, "proc")
    (work / "f").touch()
    with bound("/", str(away / "s")):
        script = ("mount --make-rprivate / && mount --bind \"$1\" f && "
                  "mount -t proc proc proc && shift && exec \"$@\"")
        done = subprocess.run(
            ["unshare", "-m", "sh", "-ec", script, "sh", away / "s",
             *box.command("run", "--json", "--tier", box.tier, "--workspace",
                          f"{work}:ro", "-c", code)],
            cwd=work, env=box.user.env, capture_output=True, check=False)
    r = karzer.Result(done)
    assert r.status == "ok" and r.text == said + "\n", r


def test_a_directory_that_cannot_be_listed_shows_no_socket(box):
    """Not even to its owner, who could change that."""
    work = box.user.work()
    d = deep(work, "a")
    with bound(d, "s"):
        for mode in (0o300, 0o600, 0o000):
            d.chmod(mode)
            r = box.python(
                "import os, socket\n"
                "try: os.chmod('a', 0o755)\n"
                "except OSError: pass\n"
                "try: socket.socket(socket.AF_UNIX).connect('a/s')\n"
                "except OSError: print('refused')\n",
                "--workspace", f"{work}:rw")
            assert r.status == "ok" and r.text == "refused\n", r
