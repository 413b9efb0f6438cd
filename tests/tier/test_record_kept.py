"""The record where things fail: a full disk, anchors, rotation, a clock that is set."""
import json
import os
import pathlib
import resource
import socket
import struct
import subprocess
import time

import pytest

import karzer
from disk import SmallDisk


def state_of(box):
    state = box.user.work() / "state"
    return state, {"KARZER_STATE": str(state)}


def kinds_in(path):
    return [json.loads(line)["kind"] for line in path.read_text().splitlines()]


def stop_growing(box, p, path):
    """The record can't take one more byte from this process."""
    if box.user.uid != os.getuid():
        karzer.lack("root", "another's limits")
    size = path.stat().st_size
    resource.prlimit(p.pid, resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.users("root")
def test_a_run_whose_end_cannot_be_recorded_is_internal(box):
    state, env = state_of(box)
    p = subprocess.Popen(
        box.command("exec", "--json", "--tier", box.tier, "--", "sh", "-c", "echo on; read x"),
        env={**box.user.env, **env}, cwd=box.dir, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    path = state / "boundary.jsonl"
    try:
        assert karzer.wait_until(lambda: path.exists() and "cell.started" in kinds_in(path))
        stop_growing(box, p, path)
        out, err = p.communicate(b"x\n", timeout=30)
    finally:
        karzer.end(p)
    answer = json.loads(out)
    assert (p.returncode, answer["status"]) == (125, "internal"), (out, err)
    assert answer["stdout"] == "on\n" and "record" in answer["message"], answer
    assert "run.finished" not in kinds_in(path)
    assert box.cli("log", "verify", env=env).returncode == 0


@pytest.mark.users("root")
def test_a_person_is_told_that_the_end_is_not_recorded(box):
    state, env = state_of(box)
    p = subprocess.Popen(
        box.command("exec", "--tier", box.tier, "--", "sh", "-c", "echo on; read x"),
        env={**box.user.env, **env}, cwd=box.dir, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert p.stdout.readline() == b"on\n"
        stop_growing(box, p, state / "boundary.jsonl")
        out, err = p.communicate(b"x\n", timeout=30)
    finally:
        karzer.end(p)
    assert p.returncode == 125 and out == b"", out
    assert err.startswith(b"karzer: internal: boundary record"), err
    assert len(err.splitlines()) == 1, err


def test_on_a_full_disk_nothing_runs_and_no_end_is_called_ok(box):
    """Run after run until the disk is full, from other starts each time."""
    for pad in (1500,) if karzer.GUEST else (0, 1500, 2700):
        with SmallDisk(box, "128k") as disk:
            env = {**box.user.env, "KARZER_STATE": str(disk.at)}
            path = disk.dir / "boundary.jsonl"
            (disk.dir / "pad").write_bytes(bytes(4096))
            disk.fill(leave=24 << 10)
            command = [*disk.prefix, *box.command(
                "exec", "--json", "--tier", box.tier, "--", "true", "x" * pad)]
            oks = fails = 0
            while fails < 4:
                done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL,
                                      capture_output=True, check=False, timeout=60)
                status = json.loads(done.stdout).get("status")
                fails += status != "ok"
                oks += status == "ok"
                assert (done.returncode == 0) == (status == "ok"), done
                assert done.returncode in (0, 125), done
                kinds = kinds_in(path)
                assert kinds.count("run.finished") - oks in range(fails + 1), (kinds, oks)
            assert oks > 2
            (disk.dir / "filler").unlink()
            done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL,
                                  capture_output=True, check=False, timeout=60)
            assert done.returncode == 0, done
            assert kinds_in(path)[-1] == "run.finished"
            done = subprocess.run([*disk.prefix, *box.command("log", "verify")], env=env,
                                  capture_output=True, check=False, timeout=60)
            assert done.returncode == 0, done


def test_anchors_find_what_the_chain_alone_does_not(box):
    state, env = state_of(box)
    anchors = box.user.work() / "anchors"
    anchors.touch()
    if os.getuid() == 0:  # of another owner, who lets the user append
        os.chown(anchors, 12345, 12345)
        anchors.chmod(0o666)
    else:
        karzer.lack("root", "a file of another owner")
    env |= {"KARZER_ANCHOR": str(anchors), "KARZER_ANCHOR_EVERY": "4"}
    for _ in range(4):
        done = box.cli("exec", "--tier", box.tier, "--", "true", env=env)
        assert (done.returncode, done.stderr) == (0, b""), done
    path = state / "boundary.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    assert len(anchors.read_text().splitlines()) == len(lines) // 4 > 2

    def verify():
        done = box.cli("log", "verify", "--anchor", anchors, env=env)
        return done.returncode, done.stdout + done.stderr
    assert verify()[0] == 0, verify()
    path.write_bytes(b"".join(lines[:2]))
    assert box.cli("log", "verify", env=env).returncode == 0
    assert verify()[0] == 1 and b"cut off" in verify()[1], verify()
    path.unlink()
    for _ in range(5):  # another chain, whose own anchors are true
        assert box.cli("exec", "--tier", box.tier, "--", "true", env=env).returncode == 0
    assert box.cli("log", "verify", env=env).returncode == 0
    assert verify()[0] == 1 and b"rewritten" in verify()[1], verify()


def test_an_anchor_that_cannot_be_kept_is_told_and_the_run_goes_on(box):
    state, env = state_of(box)
    env |= {"KARZER_ANCHOR": f"syslog:{box.dir}/none", "KARZER_ANCHOR_EVERY": "1"}
    done = box.cli("exec", "--json", "--tier", box.tier, "--", "true", env=env)
    answer = json.loads(done.stdout)
    assert answer["status"] == "ok", answer
    assert "anchor.failed" in [e["kind"] for e in answer["boundary"]]
    done = box.cli("exec", "--tier", box.tier, "--", "true", env=env)
    assert done.returncode == 0 and b"anchor was not kept" in done.stderr, done
    assert "anchor.failed" in kinds_in(state / "boundary.jsonl")


@pytest.mark.parametrize("name,value", [
    ("KARZER_ANCHOR", "here"), ("KARZER_ANCHOR_EVERY", "0"), ("KARZER_RECORD_SIZE", "1x")])
def test_a_setting_of_the_record_that_is_wrong_is_refused(any_box, name, value):
    done = any_box.cli("exec", "--", "true", env={name: value})
    assert done.returncode == 125 and name.encode() in done.stderr, done


def test_twenty_processes_lose_nothing_while_files_become_full(box):
    state, env = state_of(box)
    env |= {"KARZER_RECORD_SIZE": "64K"}
    argv = ["true", *("x" * 900 for _ in range(4))]  # some kB a run
    for _ in range(2):
        running = [subprocess.Popen(
            box.command("exec", "--tier", box.tier, "--", *argv),
            env={**box.user.env, **env}, cwd=box.dir, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(20)]
        for p in running:
            _, err = p.communicate(timeout=120 * karzer.SLOW)
            assert p.returncode == 0, err
    done = box.cli("log", "verify", env=env)
    assert done.returncode == 0, done
    files = sorted(state.glob("boundary*.jsonl"))
    assert len(files) > 2
    kinds = [k for f in files for k in kinds_in(f)]
    assert kinds.count("run.granted") == kinds.count("run.finished") == 40


@pytest.mark.kernel
@pytest.mark.guest
@pytest.mark.tiers("container")
@pytest.mark.users("root")
def test_a_clock_that_is_set_changes_neither_order_nor_limits(box):
    state, env = state_of(box)
    now = time.clock_gettime(time.CLOCK_REALTIME)
    p = subprocess.Popen(
        box.command("exec", "--json", "--wall", karzer.seconds(20), "--tier", box.tier, "--",
                    "sh", "-c", "echo on; read x"),
        env={**box.user.env, **env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    path = pathlib.Path(state) / "boundary.jsonl"
    try:
        assert karzer.wait_until(lambda: path.exists() and "cell.started" in kinds_in(path))
        time.clock_settime(time.CLOCK_REALTIME, now + 100 * 86400)
        time.sleep(0.2)
        out, _ = p.communicate(b"x\n", timeout=60)
        assert json.loads(out)["status"] == "ok", out
        assert json.loads(out)["usage"]["wall_ms"] < 60000
        time.clock_settime(time.CLOCK_REALTIME, now - 3600)
        assert box.cli("exec", "--tier", box.tier, "--", "true", env=env).returncode == 0
    finally:
        time.clock_settime(time.CLOCK_REALTIME, now)
        karzer.end(p)
    done = box.cli("log", "verify", "--json", env=env)
    assert done.returncode == 0, done
    assert json.loads(done.stdout)["set_back"] == 1, done
    seqs = [json.loads(line)["seq"] for line in path.read_text().splitlines()]
    assert seqs == sorted(seqs)


class Live:
    """A sandbox of `karzer engine`, asked by the messages of abi/engine.h."""

    def __init__(self, box, env):
        ours, theirs = socket.socketpair()
        self.socket = ours

        def place():
            os.dup2(theirs.fileno(), 3)
        self.process = subprocess.Popen(
            box.command("engine"), env={**box.user.env, **env}, cwd=box.dir,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, preexec_fn=place,
            pass_fds=[3])
        theirs.close()
        assert self.ask({"op": "sandbox.new", "tier": box.tier})["sandbox"] == 1

    def ask(self, request):
        text = json.dumps(request).encode()
        self.socket.sendall(struct.pack("<II", len(text), 1) + text)
        head = self.socket.recv(8, socket.MSG_WAITALL)
        return json.loads(self.socket.recv(struct.unpack("<II", head)[0], socket.MSG_WAITALL))

    def exec(self, *argv):
        return self.ask({"op": "sandbox.exec", "sandbox": 1, "argv": argv})["result"]

    def close(self):
        self.socket.close()
        karzer.end(self.process)


@pytest.mark.users("root")
def test_a_live_sandbox_ends_with_the_record(box):
    state, env = state_of(box)
    live = Live(box, env)
    try:
        assert live.exec("echo", "on")["stdout"] == "on\n"
        stop_growing(box, live.process, state / "boundary.jsonl")
        lost = live.exec("echo", "two")
        assert (lost["status"], lost["stdout"]) == ("internal", ""), lost
        assert "record" in lost["message"]
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        size = (state / "boundary.jsonl").stat().st_size + 1 << 20
        if hard == resource.RLIM_INFINITY:  # lowered for good without a capability
            try:
                resource.prlimit(live.process.pid, resource.RLIMIT_FSIZE, (size, size))
                assert live.exec("echo", "three")["status"] == "unavailable"
            except PermissionError:
                assert live.exec("echo", "three")["status"] == "internal"
    finally:
        live.close()
    assert box.cli("log", "verify", env=env).returncode == 0
