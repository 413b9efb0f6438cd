"""Control groups that belong to an ordinary user, as a login manager gives him.

Made by root for one module of tests, and removed after it.
"""
import os
import pathlib
import shlex
import time

MOUNT = pathlib.Path("/sys/fs/cgroup")
CONTROLLERS = ("pids", "memory", "cpu", "cpuacct")


def unified():
    """Is the whole tree v2?"""
    return "memory" in (MOUNT / "cgroup.controllers").read_text().split() \
        if (MOUNT / "cgroup.controllers").exists() else False


class Groups:
    """`only`: of these controllers. OSError where none can be made."""

    def __init__(self, name, uid, only=CONTROLLERS):
        self.made, self.enter = [], []
        try:
            if unified():
                self._make_v2(name, uid)
            else:
                self._make_v1(name, uid, only)
        except OSError:
            self.remove()
            raise

    def _make(self, path, uid):
        path.mkdir()
        self.made.append(path)
        os.chown(path, uid, uid)
        for file in ("cgroup.procs", "tasks", "cgroup.subtree_control"):
            if (path / file).exists():
                os.chown(path / file, uid, uid)

    def _make_v1(self, name, uid, only):
        for mount in sorted({(MOUNT / c).resolve() for c in only}):
            self._make(mount / name, uid)
            self.enter.append(mount / name / "tasks")

    def _make_v2(self, name, uid):
        self._make(MOUNT / name, uid)
        self._make(MOUNT / name / "own", uid)
        self.enter.append(MOUNT / name / "own" / "cgroup.procs")

    def prefix(self):
        """Words before a command of root's: it runs in the groups."""
        enter = "".join(f"echo $$ >{shlex.quote(str(f))}; " for f in self.enter)
        return ["/bin/sh", "-c", enter + 'exec "$@"', "sh"]

    def remove(self):
        end = time.monotonic() + 5
        for path in reversed(self.made):
            while path.exists():
                try:
                    path.rmdir()
                except OSError:
                    if time.monotonic() > end:
                        raise
                    time.sleep(0.02)
