"""How the suites call karzer: a Box is one tier and one user of the built tree.

Every session has a copy of the tree that any user can read, and per user a
state directory, a home and a work directory, all below one private directory.
"""
import base64
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import time

import pytest

SLOW = float(os.environ.get("KARZER_SLOW", "1"))
REPO = pathlib.Path(__file__).resolve().parents[2]
# The ordinary user that root becomes: one for each session of tests.
USER_ID = 20000 + os.getpid() % 10000
GUEST = SLOW > 1  # this is the test guest: its settings are nobody else's
SLOT_IDS = range(0x7A520000, 0x7A520000 + 4096)  # src/base/slot.h
SLOTS = "/run/karzer/slots"  # root's


NEED = set(filter(None, os.environ.get("KARZER_NEED", "").split(",")))


def lack(need, reason):
    """Skips the test; fails where this machine is known to have `need`."""
    if need in NEED:
        pytest.fail(f"this machine has {need}, yet: {reason}")
    pytest.skip(reason)


def seconds(t):
    """A time limit in seconds, longer where programs are slow, as an option."""
    return f"{t * SLOW:.3f}s"


def brief(t):
    """A limit that the test means to run into: longer only as far as needed."""
    return f"{t * min(SLOW, 4):.3f}s"


class Session:
    """The private directory and the copy of the built tree."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ktest-"))
        self.dir.chmod(0o755)
        built = pathlib.Path(os.environ.get("KARZER_TREE", REPO / "build"))
        self.tree = self.dir / "tree"
        for part in ("bin", "libexec", "share", "helper"):
            shutil.copytree(built / part, self.tree / part)
        self.karzer = self.tree / "bin" / "karzer"
        self.before = ()
        self.before = tuple(leftovers(self))
        self.helper = self.tree / "helper"  # of tests/helper

    def close(self):
        shutil.rmtree(self.dir)


class User:
    """Who calls karzer: root, or an ordinary user."""

    def __init__(self, session, name, uid=None):
        self.name = name
        self.uid = os.getuid() if uid is None else uid
        self.prefix = []
        if self.uid != os.getuid():
            ids = ["--reuid", str(uid), "--regid", str(uid), "--clear-groups"]
            self.prefix = ["/usr/bin/setpriv", *ids, "--"]
        self.dir = session.dir / name
        self.state = self.dir / "state"
        self.home = self.dir / "home"
        for path in (self.dir, self.state, self.home):
            path.mkdir(mode=0o700)
            self.own(path)
        self.dir.chmod(0o755)
        self.env = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "KARZER_STATE": str(self.state),
        }

    @property
    def root(self):
        return self.uid == 0

    def own(self, path):
        if os.getuid() == 0:
            os.chown(path, self.uid, self.uid, follow_symlinks=False)

    def work(self):
        """A new empty directory of the user."""
        path = pathlib.Path(tempfile.mkdtemp(prefix="work-", dir=self.dir))
        path.chmod(0o755)
        self.own(path)
        return path


def decode(answer, name):
    text = answer[name]
    if answer[f"{name}_encoding"] == "base64":
        return base64.b64decode(text)
    return text.encode("utf-8", "surrogatepass")


class Result:
    """What `karzer run --json` answered."""

    def __init__(self, done):
        self.rc = done.returncode
        self.messages = done.stderr.decode("utf-8", "replace")
        try:
            self.answer = json.loads(done.stdout)
        except ValueError:
            raise AssertionError(
                f"no JSON, exit status {self.rc}\nstdout: {done.stdout[:2000]!r}"
                f"\nstderr: {self.messages[:4000]}") from None
        self.stdout = decode(self.answer, "stdout")
        self.stderr = decode(self.answer, "stderr")

    def __getattr__(self, name):
        try:
            return self.__dict__["answer"][name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def text(self):
        return self.stdout.decode("utf-8", "replace")

    def events(self, kind):
        return [e for e in self.boundary if e.get("kind") == kind]

    def limits_hit(self):
        return {e["limit"] for e in self.events("limit.hit")}

    def __repr__(self):
        parts = {k: v for k, v in self.answer.items() if k != "effective"}
        return f"rc={self.rc} {json.dumps(parts)[:3000]} {self.messages[:500]}"


class Box:
    """karzer in one tier as one user."""

    def __init__(self, session, user, tier):
        self.session, self.user, self.tier = session, user, tier
        self.karzer = str(session.karzer)
        self.dir = user.work()

    def command(self, *args):
        return [*self.user.prefix, self.karzer, *map(str, args)]

    def cli(self, *args, stdin=b"", timeout=60, env=None, cwd=None):
        """Any command line; stdin None: closed. A CompletedProcess."""
        return subprocess.run(
            self.command(*args), input=stdin, capture_output=True,
            timeout=timeout * SLOW, env={**self.user.env, **(env or {})},
            cwd=cwd or self.dir, check=False)

    def start(self, *args, **more):
        """As cli, but a running Popen; end it in a finally."""
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("env", self.user.env)
        return subprocess.Popen(
            self.command(*args), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd=self.dir, **more)

    def run(self, code, *options, args=(), **more):
        """A block of Python: `karzer run --json -c CODE`."""
        tail = ["--", *args] if args else []
        return Result(self.cli("run", "--json", "--tier", self.tier, *options,
                               "-c", code, *tail, **more))

    def exec(self, *argv, options=(), **more):
        """A command: `karzer exec --json -- ARGV`."""
        return Result(self.cli("exec", "--json", "--tier", self.tier, *options,
                               "--", *argv, **more))

    def shell(self, script, *options, **more):
        return self.exec("sh", "-c", script, options=options, **more)

    def python(self, script, *options, **more):
        """A script under the plain interpreter, without the runtime."""
        return self.exec("/usr/bin/python3", "-I", "-S", "-c", script,
                         options=options, **more)

    def log(self, *args):
        """Records as JSON objects."""
        done = self.cli("log", "--json", *args)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]


def wait_until(what, timeout=5.0):
    """True when what() becomes true in time."""
    end = time.monotonic() + timeout * SLOW
    while True:
        if what():
            return True
        if time.monotonic() > end:
            return False
        time.sleep(0.02)


def processes():
    """(pid, uid, exe, command line) of every process that is alive, or dead
    and not taken note of by a parent that is not init."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        base = f"/proc/{entry}"
        try:
            with open(f"{base}/status") as f:
                fields = dict(line.split(":", 1) for line in f if ":" in line)
            uid = int(fields["Uid"].split()[0])
            if fields["State"].split()[0] == "Z" and fields["PPid"].strip() == "1":
                continue
            with open(f"{base}/cmdline", "rb") as f:
                line = f.read().replace(b"\0", b" ").decode("utf-8", "replace")
            try:
                exe = os.readlink(f"{base}/exe")
            except OSError:
                exe = ""
        except (OSError, KeyError, ValueError):
            continue
        yield int(entry), uid, exe, line or fields["Name"].strip()


def with_threads():
    """Command lines of processes whose first thread has ended, and which live:
    of another thread, as the first one has none."""
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and len(os.listdir(f"/proc/{entry}/task")) > 1:
                with open(f"/proc/{entry}/status") as f:
                    if "State:\tZ" not in f.read():
                        continue
                for task in os.listdir(f"/proc/{entry}/task"):
                    with open(f"/proc/{entry}/task/{task}/cmdline") as f:
                        yield f.read()
        except OSError:
            continue


def owned(slot):
    """Has the slot a living owner? Then what is there is a run's, perhaps of
    another session; this session's owners are found by their programs."""
    try:
        with open(SLOTS, "rb") as f:
            ask = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, slot, 1, 0)
            answer = fcntl.fcntl(f, fcntl.F_OFD_GETLK, ask)
    except OSError:
        return False
    return struct.unpack("hhqqi4x", answer)[0] != fcntl.F_UNLCK


def ownerless(uid):
    """Is it the id of a cell that no living run has?"""
    return uid in SLOT_IDS and not owned(uid - SLOT_IDS.start)


def leftover_processes(session):
    """Processes of this session's runs: its programs, its users, its cells."""
    tree = str(session.tree)
    mine = os.getuid()
    return [
        f"process {pid} uid {uid} {exe} {line}"
        for pid, uid, exe, line in processes()
        if exe.startswith(tree) or ownerless(uid)
        or (uid == USER_ID and mine == 0)
    ]


def foreign(group):
    """Does it hold processes? Then it is a run's, perhaps of another session; one
    of this session's that should not be there is found as a process."""
    try:
        with open(os.path.join(group, "cgroup.procs")) as f:
            return f.read() != ""
    except OSError:
        return False


def others(path):
    """Is it below a place of another session, ktest-NAME-PID?"""
    at = re.search(r"/ktest-(?:\w+-)?(\d+)(?:/|$)", path)
    return at is not None and int(at[1]) != os.getpid()


def leftover_cgroups():
    found = []
    for root, dirs, _ in os.walk("/sys/fs/cgroup"):
        if root.count("/") > 8:
            dirs.clear()
        found += [f"cgroup {root}/{d}" for d in dirs
                  if re.fullmatch("karzer-[0-9]+", d)
                  and not owned(int(d.removeprefix("karzer-")))
                  and not others(root)
                  and not foreign(os.path.join(root, d))]
    return found


def leftover_mounts():
    with open("/proc/self/mountinfo") as f:
        return [f"mount {line.strip()}" for line in f if "karzer" in line]


def used(name, uid):
    """Is it the scratch of a run of another session: who owns it is alive?"""
    return bool(re.fullmatch("karzer-[0-9]+", name)) and uid != USER_ID and any(
        u == uid for _, u, _, _ in processes())


def leftover_files(session):
    """What a run made in the places where anybody may make files."""
    found = []
    for place in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/dev/mqueue"):
        if not os.path.isdir(place):
            continue
        for name in os.listdir(place):
            path = os.path.join(place, name)
            if path == str(session.dir):
                continue
            if path == "/run/karzer" and os.listdir(path) in ([], ["slots"]):
                continue  # root's slots; the locks in it are what counts
            try:
                st = os.lstat(path)
            except OSError:
                continue
            if place == "/dev/shm" and used(name, st.st_uid):
                continue
            ours = ownerless(st.st_uid) or st.st_uid == USER_ID
            suite = re.match("karzer-(driver|agent|test|unit)", name)  # another suite's
            other = st.st_uid not in (0, os.getuid())  # another session's user
            if ours or ("karzer" in name and not suite and not other):
                found.append(f"file {path} {stat.filemode(st.st_mode)}")
    return found


def leftovers(session):
    """What is there and was not when the session began."""
    found = (leftover_processes(session) + leftover_cgroups() +
             leftover_mounts() + leftover_files(session))
    return [one for one in found if one not in session.before]


def end(process):
    """Ends a Popen that a test started."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.communicate()
