"""A cell whose agent lies, floods, truncates, stalls or dies: an honest status,
bounded cost, nothing left. tests/helper/liar.c stands in for the agent."""
import json
import resource
import shutil
import time

import pytest

import karzer

# In the order of the table in liar.c: the statuses that are honest.
MODES = {
    "no hello": {"internal"},
    "a wrong version": {"internal"},
    "a frame of 4 GB": {"internal"},
    "an unknown type": {"internal"},
    "an unknown command": {"internal"},
    "half a frame": {"internal"},
    "a short exit": {"internal"},
    "an impossible exit": {"internal"},
    "dies": {"internal", "error", "killed"},
    "floods output": {"output", "timeout"},
    "floods entries": {"internal"},
    "endless credit": {"internal", "timeout"},
    "no end": {"timeout"},
}


@pytest.fixture
def liar_tree(session, tmp_path_factory):
    tree = session.dir / "liar"
    shutil.copytree(session.tree, tree)
    yield tree
    shutil.rmtree(tree)


@pytest.mark.parametrize("what", MODES)
def test_a_lying_agent_gives_an_honest_status(box, liar_tree, what):
    number = list(MODES).index(what)
    body = (box.session.helper / "liar").read_bytes()
    assert body.count(b"LIAR-MODE=00") == 1
    agent = liar_tree / "libexec" / "karzer" / "karzer-agent"
    agent.write_bytes(body.replace(b"LIAR-MODE=00", b"LIAR-MODE=%02d" % number))
    box.karzer = str(liar_tree / "bin" / "karzer")
    began = time.monotonic()
    p = box.start("exec", "--json", "--tier", box.tier, "--wall", karzer.seconds(2),
                  "--output", "1M", "--", "true")
    out, err = p.communicate(timeout=30 * karzer.SLOW)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    status = json.loads(out)["status"]
    assert status in MODES[what], (status, out, err)
    assert p.returncode in (124, 125, 137) or status == "error"
    assert time.monotonic() - began < 12 * karzer.SLOW
    assert peak < 1 << 20  # of any child so far: no gigabytes
    assert karzer.wait_until(lambda: not [
        l for l in karzer.leftover_processes(box.session) if "liar" in l], 1)
