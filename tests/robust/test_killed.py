"""Engine, holder or both killed at random points of a run: every answer is true
and recorded, the record is whole, and nothing is left."""
import json
import os
import pathlib
import random
import signal
import subprocess
import time
from collections import Counter

import pytest

import karzer

LONG = os.environ.get("KARZER_LONG") == "1"
RUNS = 200 if LONG else 16
CODE = 3


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def holders(box, engine):
    """The children of the engine that are holders."""
    jail = str(box.session.tree / "libexec/karzer/karzer-jail")
    found = []
    try:
        for pid in pathlib.Path(f"/proc/{engine}/task/{engine}/children").read_text().split():
            try:
                if os.readlink(f"/proc/{pid}/exe") == jail:
                    found.append(int(pid))
            except OSError:
                pass
    except OSError:
        pass
    return found


def strike(box, p, victim, after):
    """Kills after so long; whether a holder was hit."""
    time.sleep(after)
    found = holders(box, p.pid)
    hit = False
    if victim != "engine":
        for pid in found:
            kill(pid)
            hit = True
    if victim != "holder":
        kill(p.pid)
    return hit


def fault(p, victim, answer):
    """What is wrong with the end of a run whose program ends with CODE."""
    if victim != "holder":
        if p.returncode == -signal.SIGKILL:
            return None
    if answer is None:
        return f"no answer, exit status {p.returncode}"
    if "status" not in answer:
        return None if p.returncode == 125 else f"exit status {p.returncode}"
    status = answer["status"]
    if status == "error":
        right = answer["exit_code"] == CODE == p.returncode and answer["stdout"] == "on\n"
        return None if right else "error, and it was not"
    if status not in ("internal", "unavailable"):
        return f"status {status}"
    return None if p.returncode == 125 and answer["message"] else f"{status} without a reason"


def test_runs_that_are_killed_at_random_points_end_truly(box):
    rng = random.Random(3)
    state = box.user.work() / "state"
    env = {**box.user.env, "KARZER_STATE": str(state)}
    answers, faults, counts = {}, [], Counter()
    for i in range(RUNS):
        victim = ("engine", "holder", "both")[i % 3]
        p = subprocess.Popen(
            box.command("exec", "--json", "--tier", box.tier, "--", "sh", "-c",
                        f"echo on; sleep 0.02; exit {CODE}"),
            env=env, cwd=box.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        try:
            hit = strike(box, p, victim, rng.random() * 0.06 * karzer.SLOW)
            out, err = p.communicate(timeout=60)
        finally:
            karzer.end(p)
        try:
            answer = json.loads(out) if out else None
        except ValueError:
            answer = None
        wrong = fault(p, victim, answer)
        if wrong:
            faults.append((victim, hit, wrong, out[-800:], err[-300:]))
        status = "killed" if p.returncode < 0 else (answer or {}).get("status", "refused")
        counts[f"{victim}: {status}"] += 1
        if answer and "status" in answer:
            answers[answer["id"]] = answer["status"]
    print(f"killed: {box.tier} {box.user.name}: {dict(counts)}")
    assert not faults, faults[:3]
    assert karzer.wait_until(lambda: not karzer.leftover_processes(box.session), 2), \
        karzer.leftover_processes(box.session)
    done = box.cli("exec", "--tier", box.tier, "--", "true", env=env)
    assert done.returncode == 0, done
    assert karzer.wait_until(lambda: not karzer.leftovers(box.session), 5), \
        karzer.leftovers(box.session)
    assert box.cli("log", "verify", env=env).returncode == 0
    lines = [json.loads(line) for line in box.cli("log", "--json", env=env).stdout.splitlines()]
    ends = {e["run"]: e["status"] for e in lines if e["kind"] in ("run.finished", "run.refused")}
    granted = [e["run"] for e in lines if e["kind"] == "run.granted"]
    assert {i: s for i, s in answers.items() if ends.get(i) != s} == {}, "answers not recorded"
    assert set(ends) <= set(granted) and len(granted) == len(set(granted))
