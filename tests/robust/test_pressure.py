"""Many clients at once while memory runs out around all of them: each gets an
answer that is true, each answer is in the record, and nothing is left.

All of it, and a program that takes what there is, is in one control group with a
limit: the host of these runs has so much memory and no more.
"""
import json
import os
import pathlib
import random
import subprocess
import threading
from collections import Counter

import pytest

import groups
import karzer

LONG = os.environ.get("KARZER_LONG") == "1"
CLIENTS, RUNS = (32, 50) if LONG else (12, 3)
LIMIT = 256 << 20

# Takes all memory but some room, which comes and goes; touches what it has.
HOG = """
import mmap, random, sys, time
limit, group = int(sys.argv[1]), sys.argv[2]
rng = random.Random(1)
held = []
def used():
    with open(group) as f:
        return int(f.read())
told = False
while True:
    room = rng.choice((0, 1, 2, 4, 8, 64)) << 20
    while held and limit - used() < room:
        held.pop().close()
    for _ in range(100):
        if limit - used() <= room + (1 << 20):
            if not told:
                told = bool(print('here', flush=True)) or True
            time.sleep(0.002)
            continue
        m = mmap.mmap(-1, 1 << 20)
        for at in range(0, 1 << 20, 4096):
            m[at] = 1
        held.append(m)
"""


def usage_file(group):
    for name in ("memory.usage_in_bytes", "memory.current"):
        if (group / name).exists():
            return group / name
    return karzer.lack("cgroup", "no memory control group")


def limit_file(group):
    for name in ("memory.limit_in_bytes", "memory.max"):
        if (group / name).exists():
            return group / name
    return karzer.lack("cgroup", "no memory control group")


@pytest.fixture
def small_host(box):
    """A control group with little memory, and the words that enter it."""
    if os.getuid() != 0:
        karzer.lack("root", "making control groups needs root")
    try:
        made = groups.Groups(f"ktest-pressure-{os.getpid()}", box.user.uid)
    except OSError as e:
        karzer.lack("cgroup", f"no control group can be made: {e}")
    try:
        group = next((p for p in made.made if (p / "memory.stat").exists()), None)
        if group is None:
            karzer.lack("cgroup", "no memory control group")
        limit_file(group).write_text(str(LIMIT))
        yield made.prefix(), group
    finally:
        made.remove()


class Hog:
    """Started again when the kernel takes it."""

    def __init__(self, prefix, group):
        self.argv = [*prefix, "/usr/bin/python3", "-I", "-S", "-c", HOG, str(LIMIT),
                     str(usage_file(group))]
        self.stop, self.deaths = threading.Event(), 0
        self.process = self.start()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def start(self):
        p = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        p.stdout.readline()
        return p

    def watch(self):
        while not self.stop.wait(0.05):
            if self.process.poll() is not None:
                self.deaths += 1
                self.process.communicate()
                self.process = self.start()

    def end(self):
        self.stop.set()
        self.thread.join()
        karzer.end(self.process)


def fault(number, done, answer):
    """What is wrong with the answer to `echo NUMBER; exit NUMBER % 5`."""
    if done.returncode < 0:
        return None  # the kernel took the engine: there is no answer
    if answer is None:
        return f"no answer and exit status {done.returncode}"
    if "error" in answer and "status" not in answer:
        return None if done.returncode == 125 else f"exit status {done.returncode}"
    status, code = answer["status"], number % 5
    whole = (answer["exit_code"], answer["stdout"]) == (code, f"{number}\n")
    if status == "ok":
        return None if whole and code == 0 == done.returncode else "ok, and it was not"
    if status == "error" and answer["signal"] is None:
        return None if code != 0 and answer["exit_code"] in (code, 2, 126, 127) \
            and done.returncode == answer["exit_code"] else "error, and it was not"
    if status == "memory" and answer["detail"] != "host":
        return "its own limit, which it was not near"
    want = {"error": 128 + (answer["signal"] or 0), "memory": 137, "internal": 125,
            "unavailable": 125}.get(status)
    return None if done.returncode == want else f"{status} with {done.returncode}"


def client(box, prefix, state, number, tell):
    rng = random.Random(number)
    for i in range(RUNS):
        n = number * RUNS + i
        size = rng.choice((0, 0, 6 << 20))
        script = f"echo {n}; x=$(head -c {size} /dev/zero | tr '\\0' x); exit {n % 5}"
        done = subprocess.run(
            [*prefix, *box.command("exec", "--json", "--tier", box.tier, "--", "sh", "-c", script)],
            env={**box.user.env, "KARZER_STATE": str(state)}, cwd=box.dir,
            stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=300)
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            answer = None
        tell(n, done, answer)


def test_clients_under_memory_pressure_get_true_answers(box, small_host):
    prefix, group = small_host
    state = box.user.work() / "state"
    answers, faults, counts, lock = {}, [], Counter(), threading.Lock()
    unrecorded = set()

    def tell(n, done, answer):
        with lock:
            wrong = fault(n, done, answer)
            if wrong:
                faults.append((n, wrong, done.stdout[-1500:], done.stderr[-300:]))
            if answer and "status" in answer:
                answers[answer["id"]] = answer["status"]
                counts[answer["status"]] += 1
                if answer["status"] == "internal" and "boundary record" in answer["message"]:
                    unrecorded.add(answer["id"])
            else:
                counts["engine killed" if done.returncode < 0 else "refused"] += 1

    hog = Hog(prefix, group)
    try:
        threads = [threading.Thread(target=client, args=(box, prefix, state, i, tell))
                   for i in range(CLIENTS)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        hog.end()
    print(f"pressure: {box.tier} {box.user.name}: {dict(counts)}, hog killed {hog.deaths} times")
    assert not faults, faults[:3]
    assert sum(counts.values()) == CLIENTS * RUNS
    assert counts["ok"] + counts["error"] > CLIENTS * RUNS // 10, counts
    env = {"KARZER_STATE": str(state)}
    assert box.cli("log", "verify", env=env).returncode == 0
    lines = [json.loads(line) for line in box.cli(
        "log", "--json", env=env).stdout.splitlines()]
    ends = {e["run"]: e["status"] for e in lines if e["kind"] in ("run.finished", "run.refused")}
    granted = {e["run"] for e in lines if e["kind"] == "run.granted"}
    # What could not be recorded in time says so, and is `internal`.
    assert {i: s for i, s in answers.items() if ends.get(i) != s and i not in unrecorded} == {}
    assert set(answers) <= granted | set(ends)
    assert box.cli("exec", "--tier", box.tier, "--", "true", env=env).returncode == 0
    assert karzer.wait_until(lambda: not karzer.leftovers(box.session), 5), \
        karzer.leftovers(box.session)
    assert not any(p.name.startswith("karzer-") for p in pathlib.Path(group).iterdir())
