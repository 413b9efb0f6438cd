"""More of what checks.py has: what processes, crashes and full disks leave."""
import os
import pathlib
import shutil
import signal
import time


def core_file(given, _):
    """A core in the directory that was given."""
    found = list(pathlib.Path(given.values["workspace"]).glob("*core*"))
    return f"left {found[0].name}" if found else None


def having(word):
    """Processes with the word in their command line; the newest first, before
    they are gone."""
    found = []
    for pid in sorted(map(int, filter(str.isdigit, os.listdir("/proc"))),
                      reverse=True):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                line = f.read()
            if word.encode() in line and b"python3" in line[:40]:
                found.append(pid)
        except OSError:
            pass
    return found


def survivors(given, _):
    """Processes that have the attack's own word in their command line. They are
    killed: until two looks find none."""
    found, empty = set(), 0
    while empty < 3:
        now = having(given.values["token"])
        for pid in now:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        found |= set(now)
        empty = 0 if now else empty + 1
        time.sleep(0.02)
    return f"{len(found)} go on after the end" if found else None


def left_behind(given, _):
    """A file of the attack's name where scratch may have been; bare, the tree
    that a careless removal would leave is removed by hand."""
    word = given.values["token"]
    found = [path for place in ("/tmp", "/var/tmp", "/dev/shm", "/run")
             for path in pathlib.Path(place).glob(f"*/{word}")]
    found += pathlib.Path("/tmp").glob(word)
    for path in found:
        remove_deep(path)
    return f"left {found[0]}" if found else None


def remove_deep(path):
    """Levels are moved up and removed one by one: no path is too long."""
    while (path / "d" / "d").exists():
        (path / "d" / "d").rename(path / "next")
        (path / "d").rmdir()
        (path / "next").rename(path / "d")
    shutil.rmtree(path)


def large_copy(given, _):
    """A copy that has as many bytes as the sparse file said it has."""
    path = pathlib.Path(given.values["out"]) / "sparse"
    if given.box is None:
        path = pathlib.Path("/tmp/a54-sparse")
    if not path.exists():
        return None
    size = path.stat().st_size
    if given.box is None:
        path.unlink()
    return f"a file of {size} bytes came out" if size > 1 << 30 else None
