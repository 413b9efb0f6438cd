"""What a killed run leaves goes with the next one, from whatever group."""
import os
import pathlib
import signal
import subprocess

import pytest

from karzer import end, leftover_cgroups, leftovers, processes, wait_until


def own_v1(controller):
    """The directory of our own group in a v1 hierarchy, or None."""
    with open("/proc/self/cgroup") as f:
        for line in f:
            _, names, path = line.rstrip("\n").split(":", 2)
            if controller in names.split(","):
                return pathlib.Path(f"/sys/fs/cgroup/{controller}{path}")
    return None


@pytest.fixture
def other_group():
    """A group below our own in each v1 hierarchy that cells need."""
    made = []
    for controller in ("memory", "pids"):
        own = own_v1(controller)
        if own is None or not os.access(own, os.W_OK):
            continue
        path = own / f"ktest-{os.getpid()}"
        path.mkdir()
        made.append(path)
    if not made:
        pytest.skip("no cgroup v1 hierarchy that this user may make groups in")
    yield made
    for path in made:
        assert wait_until(lambda p=path: remove(p)), path


def remove(path):
    try:
        path.rmdir()
    except OSError:
        return False
    return True


def of_session(box, name):
    path = str(box.session.tree)
    return [pid for pid, _, exe, _ in processes()
            if exe.startswith(path) and exe.endswith(name)]


@pytest.mark.users("root")
def test_groups_below_another_group_are_removed(box, other_group):
    """Engine and holder die at once; the next karzer is started elsewhere."""
    enter = "; ".join(f"echo $$ > {path}/cgroup.procs" for path in other_group)
    command = box.command("exec", "--tier", box.tier, "--", "sleep", "3600")
    run = subprocess.Popen(["sh", "-c", f'{enter}; exec "$@"', "sh", *command],
                           env=box.user.env, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    try:
        assert wait_until(lambda: any(
            line.startswith("sleep 3600") for *_, line in processes()))
        inside = [p for path in other_group for p in path.glob("karzer-*")]
        assert len(inside) == len(other_group), inside
        for pid in of_session(box, "/karzer-jail"):
            os.kill(pid, signal.SIGKILL)
        run.kill()
        run.wait()
        assert box.exec("true").status == "ok"
        assert wait_until(lambda: not leftovers(box.session))
        assert not [g for g in leftover_cgroups() if "ktest-" in g]
    finally:
        end(run)
