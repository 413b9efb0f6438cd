"""Disks that become full, under the record and under what programs write: no run
is lost, none is called what it was not, nothing is left."""
import json
import os
import random
import subprocess
import threading
from collections import Counter

import pytest

import karzer
from disk import SmallDisk

LONG = os.environ.get("KARZER_LONG") == "1"
CLIENTS, RUNS = (16, 40) if LONG else (6, 5)


def records(path):
    """Of all files of a record, in order."""
    files = sorted(p for p in path.iterdir() if p.name.startswith("boundary-"))
    lines = []
    for file in [*files, path / "boundary.jsonl"]:
        lines += file.read_bytes().splitlines(keepends=True) if file.exists() else []
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


class Breather(threading.Thread):
    """Takes all space of the disk, gives some back, takes it again."""

    def __init__(self, disk, seed):
        super().__init__()
        self.disk, self.rng, self.stop = disk, random.Random(seed), threading.Event()

    def run(self):
        while not self.stop.wait(self.rng.random() * 0.05):
            self.disk.fill(leave=self.rng.choice((0, 0, 4, 8, 16, 64)) << 10)
        (self.disk.dir / "filler").unlink()


def fault(n, done, answer):
    """What is wrong with the answer to `echo N; exit N % 3`, where a record may
    fail at any moment."""
    if answer is None:
        return f"no answer, exit status {done.returncode}"
    if "status" not in answer:
        return None if done.returncode == 125 else f"exit status {done.returncode}"
    if answer["status"] in ("ok", "error"):
        right = (answer["exit_code"], done.returncode, answer["stdout"]) == (
            n % 3, n % 3, f"{n}\n") and (answer["status"] == "ok") == (n % 3 == 0)
        return None if right else f"{answer['status']}, and it was not"
    if answer["status"] not in ("internal", "unavailable") or done.returncode != 125:
        return f"{answer['status']} with {done.returncode}"
    return None if answer["message"] else "no reason"


def test_clients_on_a_disk_that_is_full_now_and_then(box):
    answers, faults, counts, lock = {}, [], Counter(), threading.Lock()

    def client(disk, number):
        for i in range(RUNS):
            n = number * RUNS + i
            done = subprocess.run(
                [*disk.prefix, *box.command("exec", "--json", "--tier", box.tier, "--",
                                            "sh", "-c", f"echo {n}; exit {n % 3}")],
                env={**box.user.env, "KARZER_STATE": str(disk.at),
                     "KARZER_RECORD_SIZE": "64K"},
                stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120)
            answer = json.loads(done.stdout) if done.stdout else None
            with lock:
                wrong = fault(n, done, answer)
                if wrong:
                    faults.append((n, wrong, done))
                counts[(answer or {}).get("status", "refused")] += 1
                if answer and "status" in answer:
                    answers[answer["id"]] = answer["status"]

    with SmallDisk(box, "8M") as disk:
        breather = Breather(disk, CLIENTS)
        breather.start()
        threads = [threading.Thread(target=client, args=(disk, i)) for i in range(CLIENTS)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        breather.stop.set()
        breather.join()
        print(f"full disk: {box.tier} {box.user.name}: {dict(counts)}")
        assert not faults, faults[:3]
        assert sum(counts.values()) == CLIENTS * RUNS
        last = subprocess.run(
            [*disk.prefix, *box.command("exec", "--tier", box.tier, "--", "true")],
            env={**box.user.env, "KARZER_STATE": str(disk.at)}, capture_output=True,
            stdin=subprocess.DEVNULL, check=False, timeout=60)
        assert last.returncode == 0, last
        done = subprocess.run(
            [*disk.prefix, *box.command("log", "verify")], capture_output=True,
            env={**box.user.env, "KARZER_STATE": str(disk.at)}, check=False, timeout=60)
        assert done.returncode == 0, done
        lines = records(disk.dir)
    assert [e["seq"] for e in lines] == list(range(1, len(lines) + 1))
    ends = {e["run"]: e["status"] for e in lines if e["kind"] in ("run.finished", "run.refused")}
    granted = {e["run"] for e in lines if e["kind"] == "run.granted"}
    for run, status in answers.items():
        assert run in granted, "an answer of a run that was not granted"
        assert ends.get(run) == status or (status == "internal" and run not in ends), run
    assert karzer.wait_until(lambda: not karzer.leftovers(box.session), 5), \
        karzer.leftovers(box.session)


# /dev/full reads as zeros, and is there where /dev/zero is not.
WRITE = "head -c 3000000 /dev/full > $HOME/f && echo whole"


def test_a_program_that_fills_its_scratch_ends_as_disk_each_time(box):
    for _ in range(20 if LONG else 3):
        r = box.shell(WRITE, "--disk", "1M")
        assert r.status == "disk" and "whole" not in r.text, r
        r = box.shell(WRITE, "--disk", "8M")
        assert (r.status, r.text) == ("ok", "whole\n"), r


@pytest.mark.tiers("process")
def test_where_the_hosts_own_disk_of_scratch_is_full_no_write_is_called_whole(box):
    """Without namespaces scratch is a directory of the host's /dev/shm."""
    refuse = str(box.session.helper / "refuse_namespaces")
    with SmallDisk(box, "4M", at="/dev/shm") as disk:
        os.chmod(disk.dir, 0o1777)
        command = [*disk.prefix, *box.user.prefix, refuse, box.karzer, "exec", "--json",
                   "--tier", "process", "--disk", "32M", "--", "sh", "-c", WRITE]

        def run():
            done = subprocess.run(command, env=box.user.env, stdin=subprocess.DEVNULL,
                                  capture_output=True, check=False, timeout=60)
            return json.loads(done.stdout)
        first = run()
        if first["status"] == "unavailable":
            pytest.skip(first["message"])
        assert (first["status"], first["stdout"]) == ("ok", "whole\n"), first
        seen = Counter()
        for leave in (0, 4 << 10, 64 << 10, 1 << 20, 2 << 20) * (4 if LONG else 1):
            disk.fill(leave=leave)
            answer = run()
            seen[answer["status"]] += 1
            assert answer["status"] in ("disk", "error", "unavailable"), answer
            assert "whole" not in answer["stdout"], answer
            assert answer["message"] or "No space" in answer["stderr"], answer
            (disk.dir / "filler").unlink()
            again = run()
            assert (again["status"], again["stdout"]) == ("ok", "whole\n"), again
        print(f"full scratch of the host: {box.user.name}: {dict(seen)}")
        left = [p for p in os.listdir(disk.dir) if p.startswith("karzer")]
        assert left == [], left
