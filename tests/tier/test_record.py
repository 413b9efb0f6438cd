"""The boundary record: before the effect, chained, and nothing runs without it."""
import json
import os
import re
import subprocess

import pytest

import karzer


def raw_lines(box):
    return (box.user.state / "boundary.jsonl").read_bytes().splitlines()


def test_a_run_is_granted_before_and_finished_after(box):
    r = box.run("print(1)")
    kinds = [e["kind"] for e in box.log("--run", r.id)]
    assert kinds[0] == "run.granted" and kinds[-1] == "run.finished", kinds
    assert "cell.started" in kinds


def test_a_program_that_ends_at_once_has_started_all_the_same(box):
    """The holder may say ready and ended in one breath."""
    for _ in range(4 if karzer.GUEST else 25):
        r = box.exec("true")
        assert r.status == "ok" and r.effective is not None, r
        assert [e["kind"] for e in r.boundary] == [
            "run.granted", "cell.started", "run.finished"], r


def test_the_grant_is_on_disk_before_the_program_starts(box):
    """The program is shown the record of its own run."""
    p = box.start("exec", "--tier", box.tier, "--", "sleep", "20")
    try:
        def started():
            return any(line.startswith("sleep 20") for _, _, _, line in karzer.processes())
        assert karzer.wait_until(started)
        last = json.loads(raw_lines(box)[-1])
        kinds = [json.loads(l)["kind"] for l in raw_lines(box)[-2:]]
        assert "run.granted" in kinds and last["kind"] != "run.finished", kinds
    finally:
        karzer.end(p)


def test_the_grant_says_what_was_allowed(box):
    r = box.run("print(1)", "--mem", "100M", "--env", "TOKEN=hunter2hunter2")
    granted, = [e for e in box.log("--run", r.id) if e["kind"] == "run.granted"]
    assert granted["tier"] == box.tier, granted
    assert granted["limits"]["mem_bytes"] == 100 << 20
    assert "hunter2" not in json.dumps(granted)


def test_the_end_says_status_and_usage(box):
    r = box.run("import sys; sys.exit(3)")
    ended = box.log("--run", r.id)[-1]
    assert (ended["status"], ended["exit_code"]) == ("error", 3), ended
    assert ended["usage"]["wall_ms"] is not None


def test_the_results_events_are_those_of_the_record(box):
    r = box.shell("dd if=/dev/zero of=/tmp/f bs=1M count=40 2>/dev/null; true",
                  "--disk", "16M")
    recorded = [e["kind"] for e in box.log("--run", r.id)]
    assert [e["kind"] for e in r.boundary] == recorded[:len(r.boundary)], r
    assert "limit.hit" in recorded


def test_the_chain_is_whole(box):
    box.run("1")
    done = box.cli("log", "verify")
    assert done.returncode == 0, done


def test_a_changed_line_is_found(box):
    work = box.user.work() / "state"
    box.user.own(box.dir)
    env = {"KARZER_STATE": str(work)}
    for _ in range(3):
        assert box.cli("run", "--tier", box.tier, "-c", "1", env=env).returncode == 0
    path = work / "boundary.jsonl"
    whole = path.read_bytes()
    assert box.cli("log", "verify", env=env).returncode == 0
    head = box.cli("log", "head", env=env).stdout.decode().strip()
    lines = whole.splitlines(keepends=True)
    broken = {
        "changed": whole.replace(b'"ok"', b'"no"', 1),
        "removed": b"".join(lines[:2] + lines[3:]),
        "reordered": b"".join([lines[1], lines[0], *lines[2:]]),
        "torn": whole[:-10],
        "doubled": b"".join(lines + lines[-1:]),
    }
    for what, body in broken.items():
        assert body != whole
        path.write_bytes(body)
        done = box.cli("log", "verify", env=env)
        assert done.returncode != 0 and done.stderr + done.stdout, what
    path.write_bytes(b"".join(lines[:-2]))  # a cut tail: only an anchor tells
    assert box.cli("log", "verify", env=env).returncode == 0
    assert box.cli("log", "verify", "--anchor", head, env=env).returncode != 0
    path.write_bytes(whole)
    assert box.cli("log", "verify", "--anchor", head, env=env).returncode == 0


def test_a_torn_last_line_is_found_then_kept_and_told(box):
    """The next run does not hide it: what was there is a record of its own."""
    env = {"KARZER_STATE": str(box.user.work() / "state")}
    assert box.cli("run", "--tier", box.tier, "-c", "1", env=env).returncode == 0
    path = karzer.pathlib.Path(env["KARZER_STATE"]) / "boundary.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    done = box.cli("log", "verify", env=env)
    assert done.returncode != 0 and b"torn" in done.stdout + done.stderr, done
    assert box.cli("run", "--tier", box.tier, "-c", "1", env=env).returncode == 0
    done = box.cli("log", "verify", env=env)
    assert done.returncode == 0 and b"torn" in done.stdout, done
    kinds = [json.loads(l)["kind"] for l in path.read_text().splitlines()]
    assert kinds.count("record.torn") == 1


def check_nothing_runs(box, how):
    state = box.user.work() / "state"
    marker = box.user.work()
    if how == "is a file":
        state.write_text("x")
    elif how == "is a full device":
        state.mkdir(mode=0o700)
        (state / "boundary.jsonl").symlink_to("/dev/full")
    else:
        state.mkdir(mode=0o500)
    box.user.own(state)
    done = box.cli("exec", "--tier", box.tier, "--workspace", f"{marker}:rw", "--",
                   "touch", f"{marker}/RAN", env={"KARZER_STATE": str(state)})
    assert done.returncode == 125, done
    assert not (marker / "RAN").exists()
    assert len(done.stderr.strip().splitlines()) == 1, done
    assert b"record" in done.stderr or b"state" in done.stderr, done


@pytest.mark.parametrize("how", ["is a file", "is a full device"])
def test_where_the_record_cannot_be_written_nothing_runs(box, how):
    check_nothing_runs(box, how)


@pytest.mark.users("user")  # root may write everywhere
def test_where_the_record_is_read_only_nothing_runs(box):
    check_nothing_runs(box, "is read-only")


def test_twenty_processes_at_once_lose_no_record(box):
    env = {"KARZER_STATE": str(box.user.work() / "state")}
    running = [subprocess.Popen(
        box.command("exec", "--tier", box.tier, "--", "true"),
        env={**box.user.env, **env}, cwd=box.dir, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(20)]
    for p in running:
        _, err = p.communicate(timeout=120 * karzer.SLOW)
        assert p.returncode == 0, err
    assert box.cli("log", "verify", env=env).returncode == 0
    lines = (karzer.pathlib.Path(env["KARZER_STATE"]) / "boundary.jsonl").read_text()
    kinds = [json.loads(l)["kind"] for l in lines.splitlines()]
    assert kinds.count("run.granted") == kinds.count("run.finished") == 20


def test_a_newline_in_a_name_does_not_forge_a_record(box):
    before = len(raw_lines(box)) if (box.user.state / "boundary.jsonl").exists() else 0
    r = box.exec("printf", "x", 'a\n{"kind":"run.finished"}')
    kinds = [json.loads(l)["kind"] for l in raw_lines(box)[before:]]
    assert kinds.count("run.finished") == 1 and r.status == "ok"
    assert box.cli("log", "verify").returncode == 0


def test_a_refused_run_is_recorded(box):
    work = box.user.work()
    done = box.cli("exec", "--json", "--tier", box.tier, "--workspace", "/", "--", "true")
    assert done.returncode in (2, 125), done
    kinds = [e["kind"] for e in box.log("--since", "5m")]
    assert "run.refused" in kinds
    assert work.exists()


def test_the_record_is_private(box):
    box.run("1")
    st = os.stat(box.user.state / "boundary.jsonl")
    assert st.st_mode & 0o077 == 0 and st.st_uid == box.user.uid


def test_log_selects_by_run_kind_and_time(box):
    r = box.run("1")
    assert {e["kind"] for e in box.log("--kind", "run.")} <= {
        "run.granted", "run.finished", "run.refused"}
    assert len(box.log("--run", r.id, "--kind", "run.finished")) == 1
    assert box.log("--run", r.id, "--since", "1h")
    assert box.log("--run", "0" * 26) == []


def test_a_hash_of_the_head_is_what_an_anchor_takes(box):
    box.run("1")
    head = box.cli("log", "head").stdout.decode()
    assert re.fullmatch(r"[0-9]+ [0-9a-f]{64}\n", head), head
    assert box.cli("log", "verify", "--anchor", head.strip()).returncode == 0
