"""libkarzer: the example of examples/, as C users would run it."""
import os
import pathlib
import shutil
import signal
import subprocess

import pytest

import karzer


@pytest.fixture
def example(box):
    built = pathlib.Path(os.environ.get("KARZER_TREE", karzer.REPO / "build"))
    program = box.dir / "run"
    shutil.copy(built / "examples" / "run", program)
    program.chmod(0o755)
    return [*box.user.prefix, str(program), box.karzer]


def call(box, command, **more):
    return subprocess.run(command, capture_output=True, cwd=box.dir,
                          env=box.user.env, timeout=60 * karzer.SLOW, check=False, **more)


@pytest.mark.tiers("container")
def test_the_example_shows_what_it_says(box, example):
    done = call(box, example)
    out = done.stdout.decode()
    assert done.returncode == 0 and not done.stderr, done
    assert "out.txt: here words three" in out, out
    assert "value: 16" in out and "in.txt" in out and "[timeout" in out, out
    assert box.cli("log", "verify").returncode == 0


@pytest.mark.tiers("container")
def test_the_engine_ends_with_its_client(box, example):
    """The example ends in an endless loop; killed there, it leaves nothing."""
    p = subprocess.Popen(example, stdout=subprocess.DEVNULL, cwd=box.dir,
                         env=box.user.env, start_new_session=True)

    def engines():
        return [line for _, _, _, line in karzer.processes()
                if line.startswith(f"{box.karzer} engine")]
    try:
        assert karzer.wait_until(engines)
    finally:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
    assert karzer.wait_until(lambda: not engines(), timeout=3), engines()


@pytest.mark.tiers("container")
def test_a_wrong_path_is_one_clear_line(box, example):
    done = call(box, [*example[:-1], "/nowhere/karzer"])
    assert done.returncode == 1
    assert b"/nowhere/karzer: No such file" in done.stderr, done
