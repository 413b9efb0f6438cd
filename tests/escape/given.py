"""What an attack is given on the host: a secret, a service, a neighbour.

NEEDS of an attack names functions of this file. Each prepares one thing, gives
the value that the attack gets as `name=value`, and may add a check: what says,
after the attack, how it shows on the host that it got through, or None.
"""
import contextlib
import os
import secrets
import shutil
import socket
import stat
import struct
import subprocess

import given_process
import karzer


class Given:
    """What was prepared for one cell, or for one bare program."""

    def __init__(self, user, box=None):
        self.user, self.box = user, box  # box: None when bare
        self.stack = contextlib.ExitStack()
        self.values, self.checks, self.secrets = {}, [], []
        self.told = []  # what was said meanwhile
        self.stdin = subprocess.DEVNULL
        self.env, self.pass_fds = {}, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    def prepare(self, needs):
        for name in needs:
            if name not in self.values:
                self.values[name] = str(NEEDS[name](self))
        return self

    def start(self):
        """How karzer, or the bare program, is to be started."""
        return {"stdin": self.stdin, "pass_fds": self.pass_fds,
                "env": {**self.user.env, **self.env}}

    def words(self, needs):
        return [f"{name}={self.values[name]}" for name in needs]

    def secret(self):
        """A word that nobody can print who was not shown it."""
        self.secrets.append(f"SECRET-{secrets.token_hex(12)}")
        return self.secrets[-1]

    def printed(self, output):
        """Which secret is in the output, or None."""
        return next((f"printed {one}" for one in self.secrets if one in output),
                    None)

    def happened(self):
        """What shows on the host that something got through, or None."""
        return next(filter(None, (check() for check in self.checks)), None)

    def evidence(self, output):
        return self.printed(output) or self.happened()


def host_file(given):
    """A file of the operator with a secret: neither read nor changed."""
    path = given.user.work() / "credentials"
    path.write_text(f"token={given.secret()}\n")
    path.chmod(0o600)
    given.user.own(path)
    before = stamp(path)
    given.checks.append(
        lambda: None if stamp(path) == before else f"changed {path}")
    return path


def stamp(path):
    st = os.lstat(path)
    return st.st_mode, st.st_uid, st.st_size, st.st_mtime_ns, path.read_bytes()


def listening(given, s, address):
    given.stack.enter_context(s)
    s.bind(address)
    s.listen(5)
    s.setblocking(False)
    given.checks.append(lambda: reached(s))
    return s.getsockname()


def reached(s):
    try:
        s.accept()[0].close()
    except BlockingIOError:
        return None
    return "connected to a service of the host"


def loopback_service(given):
    """A TCP service on the host's loopback: its port."""
    return listening(given, socket.socket(), ("127.0.0.1", 0))[1]


def abstract_socket(given):
    """A service of the host with an abstract name."""
    name = f"ktest-{secrets.token_hex(8)}"
    listening(given, socket.socket(socket.AF_UNIX), f"\0{name}")
    return name


def path_socket(given):
    """A service of the host with a name in a directory of the operator."""
    path = given.user.work() / "service.sock"
    listening(given, socket.socket(socket.AF_UNIX), str(path))
    path.chmod(0o777)
    return path


SLEEPER = ("import sys, time\n"
           "held = bytearray(sys.argv[1].encode())\n"
           "print('ready', flush=True)\n"
           "time.sleep(600)\n")


def victim(given):
    """A process of the operator that holds a secret: its pid on the host."""
    p = subprocess.Popen(
        [*given.user.prefix, "/usr/bin/python3", "-I", "-S", "-c", SLEEPER,
         given.secret()], stdout=subprocess.PIPE, env=given.user.env)
    given.stack.callback(karzer.end, p)
    assert p.stdout.readline() == b"ready\n"
    given.checks.append(
        lambda: None if p.poll() is None else "ended a process of the host")
    return p.pid


def sibling(given):
    """A program of another cell that holds a secret: its pid on the host. Bare,
    a process of the same user."""
    if given.box is None:
        return victim(given)
    p = given.box.start("exec", "--tier", given.box.tier, "--wall", "1h", "--",
                        "/usr/bin/python3", "-I", "-S", "-c", SLEEPER,
                        given.secret())
    given.stack.callback(karzer.end, p)
    assert p.stdout.readline() == b"ready\n", p.communicate()
    given.checks.append(
        lambda: None if p.poll() is None else "ended a program of another cell")
    return next(pid for pid, _, exe, line in karzer.processes()
                if given.secrets[-1] in line and "python3" in exe)


def own_program(given):
    """A process of the operator whose program is a file of his: its pid. The
    file is not changed; bare, the attack may end it."""
    path = given.user.work() / "program"
    shutil.copy("/usr/bin/sleep", path)
    given.user.own(path)
    p = subprocess.Popen([*given.user.prefix, path, "600"], env=given.user.env)
    given.stack.callback(karzer.end, p)
    before = path.read_bytes()
    given.checks.append(lambda: None if path.read_bytes() == before and
                        p.poll() is None else "changed a program of the host")
    karzer.wait_until(lambda: os.readlink(f"/proc/{p.pid}/exe") == str(path))
    return p.pid


def victim_dir(given):
    """A directory of the operator in which nothing may appear."""
    path = given.user.work()
    (path / "there").write_text("before\n")
    given.user.own(path / "there")
    given.checks.append(lambda: None if os.listdir(path) == ["there"] and
                        (path / "there").read_text() == "before\n"
                        else f"made files in {path}: {os.listdir(path)}")
    return path


def group_file(given):
    """A file that only the operator's group may read."""
    path = given.user.work() / "of-the-group"
    path.write_text(f"token={given.secret()}\n")
    path.chmod(0o040)
    given.user.own(path)
    return path


def host_tree(given):
    """A directory of the operator, for --workspace {host_tree}:ro."""
    path = given.user.work()
    text = b"as it was " * 1000
    (path / "shared").write_bytes(text)
    given.user.own(path / "shared")
    given.checks.append(lambda: None if (path / "shared").read_bytes() == text
                        else "changed what was shown read-only")
    return path


def socket_tree(given):
    """A directory of the operator with a service's socket in it, two deep."""
    path = given.user.work()
    (path / "deep" / "er").mkdir(parents=True)
    for each in (path / "deep", path / "deep" / "er"):
        given.user.own(each)
    s = path / "deep" / "er" / "service.sock"
    listening(given, socket.socket(socket.AF_UNIX), str(s))
    s.chmod(0o777)
    return path


def hostile_tree(given):
    """A tree as a stranger packs it, with what its maker has the rights to."""
    path = given.user.work()
    program = path / "set-id"
    program.write_text("#!/bin/sh\n")
    (path / "sub").mkdir()
    os.mkfifo(path / "sub" / "fifo")
    (path / "link").symlink_to(given.values["host_file"])
    (path / "dir-link").symlink_to(os.path.dirname(given.values["host_file"]))
    for each in (program, path / "sub", path / "sub" / "fifo", path / "link"):
        given.user.own(each)
    program.chmod(0o6755)
    if os.getuid() == 0 and given.user.root:
        os.mknod(path / "sub" / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        (path / "capable").write_text("x")
        os.setxattr(path / "capable", "security.capability",
                    struct.pack("<5I", 0x02000001, 0xff, 0, 0, 0))
    return path


def pty(given):
    """A terminal of the operator as standard input; what is typed into it by
    others shows in its input queue."""
    master, slave = os.openpty()
    for fd in (master, slave):
        given.stack.callback(os.close, fd)
    given.user.own(os.ttyname(slave))
    given.stdin = slave
    return os.ttyname(slave)


def workspace(given):
    """A directory of the operator, for --workspace {workspace}:rw."""
    return given.user.work()


def out(given):
    """A directory of the operator that --out copies to."""
    return given.user.work()


NEEDS = {f.__name__: f for f in (
    host_file, loopback_service, abstract_socket, path_socket, victim, sibling,
    own_program, victim_dir, group_file, host_tree, socket_tree, hostile_tree,
    pty, workspace, out)} | given_process.NEEDS
